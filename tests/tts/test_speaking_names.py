import tts


def test_the_room_offers_these_names_and_no_others() -> None:
    assert sorted(tts.__all__) == [
        "Cutter",
        "EndpointEngine",
        "Engine",
        "Frame",
        "KokoroEngine",
        "NoVoice",
        "Piece",
        "PiperEngine",
        "Speakable",
        "Speaker",
        "SpeechFault",
        "SpeechHandle",
        "SpeechSource",
        "SplitFailed",
        "Spoken",
        "SupertonicEngine",
        "TtsError",
        "UnknownVoice",
        "Voice",
        "create_speech",
        "pieces",
        "sentences",
        "speakable",
        "split_voice",
        "spoken",
    ]
    assert all(hasattr(tts, name) for name in tts.__all__)
