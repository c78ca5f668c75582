"""R1: where there is no call to be had, the page goes on by the WebSocket and nobody notices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from scripted import Script, wait_for

from web.browser import until

pytestmark = [pytest.mark.browser, pytest.mark.timeout(180)]

# A server that takes calls, and a network that lets none through.
_NO_WAY = """
const fetched = window.fetch;
const offer = (url, options) => String(url).includes("/realtime/calls") && (options?.method ?? "GET");
window.fetch = async (url, options) => {
  const method = offer(url, options);
  if (!method) return fetched(url, options);
  if (method === "GET") return new Response('{"ice_servers": []}', { status: 200 });
  return new Response("v=0", { status: 201, headers: { Location: "/v1/realtime/calls/rtc_1" } });
};
RTCPeerConnection.prototype.setRemoteDescription = async function () {
  Object.defineProperty(this, "connectionState", { value: "failed" });
  setTimeout(() => this.onconnectionstatechange?.(), 50);
};
"""


_NO_WEBRTC = "delete window.RTCPeerConnection;"


@pytest.mark.parametrize(
    "before", [None, _NO_WAY, _NO_WEBRTC], ids=["a server without calls", "no way through", "a browser without WebRTC"]
)
def test_r1_the_page_falls_back_to_the_websocket(script: Script, visit: Callable[..., Any], before: str | None) -> None:
    page = visit(at="/app/voice/guide?line=call", before=before)
    until(page, "document.body.dataset.ready === 'yes'")
    page.fill("#line", "What is the first word?")
    page.press("#line", "Enter")
    wait_for(page, lambda: "response.create" in script.kinds())
    until(page, "document.querySelectorAll('#transcript li[data-role=assistant]').length", gives=1)
    assert page.inner_text("#notice") == ""
