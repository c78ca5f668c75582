import pytest

from tts import Cutter, pieces

# "|" is where the opening ends.
OPENINGS = [
    ("en", "On Monday, May 5, 2026, |the town will hold its first market of the year in the old square."),
    ("en", "In 2019, the company moved its whole team from Paris to a small village near the sea."),
    ("en", "Mr. Smith, Jr., who lives next door with his dog, |said that he would come to the party tonight."),
    ("en", "I bought apples (red, green, and yellow ones), |pears and plums for the cake that we bake today."),
    ("en", "The result is 10 - 3 and that is what everybody in the room had expected from the start."),
    ("en", "What I can tell you — |and this is important — is that nobody knows what the weather will do."),
    ("en", "Sure, here you go with a long sentence that has its only comma at the start of the thing."),
    ("en", "This sentence goes on and on without any clause until the very last word that is, ok."),
    ("en", "It depends on what you mean; |some people say that it works and others say that it does not."),
    ("de", "Die Antwort hängt davon ab, |ob du morgen mit dem Zug oder doch lieber mit dem Auto fahren willst."),
    ("de", "Im Zimmer sind es heute morgen 22,5 Grad und draußen ist es noch immer sehr kalt und windig."),
    ("fr", "Si vous voulez bien me suivre, |je vais vous montrer la chambre qui donne sur le jardin et la mer."),
    ("es", "Si quieres venir conmigo mañana, |te enseño la casa nueva que mis padres han comprado en el campo."),
    ("zh", "今天我想和你谈谈我们公司明年的计划和预算安排，|因为这对每个人来说都非常重要而且紧急。"),
    ("ja", "明日は朝から雨が降るそうなので、|傘を持って出かけたほうがいいと思いますよ、本当に。"),
    ("th", "ฉันชอบกินข้าวกับเพื่อนที่ร้านอาหาร |แล้วเราก็ไปเดินเล่นที่สวนสาธารณะใกล้บ้านของฉัน"),
    ("ar", "أريد أن أذهب إلى السوق اليوم، |ثم أعود إلى البيت لأطبخ العشاء مع أمي وأبي وأختي الصغيرة."),
    ("hi", "आज मैं बाजार गया और वहाँ से बहुत सारे फल खरीदे, |फिर मैं घर आया और माँ को सब कुछ बताया।"),
]


@pytest.mark.parametrize(("language", "shown"), OPENINGS, ids=[f"{code}: {text[:24]}" for code, text in OPENINGS])
def test_a_long_sentence_opens_where_a_speaker_would_breathe(language: str, shown: str) -> None:
    opening, *rest = shown.split("|")
    assert pieces("".join([opening, *rest]), language=language) == [opening, *rest]


@pytest.mark.parametrize(("language", "shown"), OPENINGS, ids=[f"{code}: {text[:24]}" for code, text in OPENINGS])
@pytest.mark.parametrize("size", [1, 3, 11])
def test_it_opens_there_however_the_sentence_arrives(language: str, shown: str, size: int) -> None:
    text = shown.replace("|", "")
    cutter = Cutter(language=language)
    made = [piece for at in range(0, len(text), size) for piece in cutter.push(text[at : at + size])]
    assert [piece.source for piece in [*made, *cutter.flush()]] == shown.split("|")


def test_the_opening_leaves_as_soon_as_two_words_stand_behind_it() -> None:
    cutter = Cutter()
    assert cutter.push("If you ask me about it, I would say that we should wait un") != []


def test_a_letter_is_never_parted_from_its_marks() -> None:
    text = "नि" * 400
    assert all(piece[0] != "ि" for piece in pieces(text))
    assert "".join(pieces(text)) == text


def test_what_is_not_spoken_never_opens_an_answer() -> None:
    cutter = Cutter()
    made = [*cutter.push("… — "), *cutter.push("Of course. Then"), *cutter.flush()]
    assert [piece.source for piece in made] == ["… — Of course. ", "Then"]
