"""Run a command within this process, as ``overlapper`` would."""

import pytest

from overlapper import cli


class Result:
    """What a run of a command left behind."""

    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out, err


@pytest.fixture
def command(tmp_path, monkeypatch, capfdbinary):
    """Run a command in a folder of its own."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        monkeypatch.setattr("sys.argv", ["overlapper", *map(str, arguments)])
        capfdbinary.readouterr()
        try:
            cli.main()
            code = 0
        except SystemExit as stop:
            code = stop.code or 0
        out, err = capfdbinary.readouterr()
        return Result(code, out, err.decode())

    return run


def assert_refused(result, code, message, folder, before):
    """Check that a run ended with an error that was told, and left no file."""
    assert result.code == code
    assert message in result.err
    assert "Traceback" not in result.err
    assert result.out == b""
    assert sorted(path.name for path in folder.iterdir()) == before
    if code == 1:
        assert result.err.splitlines()[-1].startswith("overlapper: error: ")
