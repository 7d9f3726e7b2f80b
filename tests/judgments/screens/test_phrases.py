"""Lines of Japanese and Chinese break between phrases, and the text stays as it is."""

import pytest

from judgments.screens.trial_screen import trial_phrases


@pytest.mark.parametrize(
    ("language", "text", "words"),
    [
        ("ja", "太郎が花子に会ったことを誰も知らないようだ。", ("会った", "知らないようだ。")),
        ("ja-JP", "どの本を太郎が買ったか花子は知らない。", ("買ったか", "知らない。")),
        ("zh", "我昨天在图书馆看见了王老师的学生。", ("昨天", "图书馆", "看见", "老师")),
        ("zh-Hant", "我昨天在圖書館看見了王老師的學生。", ("昨天", "圖書館", "看見", "老師")),
    ],
)
def test_no_break_is_inside_a_word(language, text, words):
    parts = trial_phrases(text, language)
    assert "".join(parts) == text and len(parts) > 3
    assert all(any(word in part for part in parts) for word in words)


@pytest.mark.parametrize("language", ["en", "ko", "th", ""])
def test_other_languages_break_as_the_browser_does(language):
    assert trial_phrases("The keys are here.", language) == ("The keys are here.",)
