def test_sum():
    assert sum(range(10)) == 45


def test_text():
    assert "twenty".upper() == "TWENTY"
