"""LangChain's ChatOpenAI against a live door: langchain_chat.py BASE_URL GRANT. Prints one JSON object."""

import json
import sys

from langchain_openai import ChatOpenAI

TOOL = {"type": "function", "function": {"name": "look", "parameters": {"type": "object", "properties": {}}}}
base_url, grant = sys.argv[1:]
chat = ChatOpenAI(base_url=f"{base_url}/v1", api_key=grant, model="any", max_retries=0, stream_usage=True)
wrong = ChatOpenAI(base_url=f"{base_url}/v1", api_key="no.grant", model="any", max_retries=0)
chunks = list(chat.stream("hi"))
try:
    wrong.invoke("hi")
    refused = "no"
except Exception as fault:
    refused = type(fault).__name__
told = {
    "plain": chat.invoke([("system", "ignored"), ("human", "hi")]).content,
    "streamed": "".join(chunk.content for chunk in chunks),
    "usage": sum((chunk.usage_metadata or {}).get("total_tokens", 0) for chunk in chunks),
    "with_tools": chat.bind_tools([{"type": "function", "function": {"name": "look", "parameters": {}}}])
    .invoke("hi")
    .content,
    "refused": refused,
}
print(json.dumps(told))
