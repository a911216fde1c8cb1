"""Every way a command can end: its exit code, its message, and what it must not say."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import sfumato.cli.anonymize
from sfumato import errors
from sfumato.cli import main, own_process
from sfumato.cli.error_output import MOST_VALUES

COMMAND = ["anonymize", "policy.toml"]
CODES = {
    errors.UsageError: 2,
    errors.PolicyError: 2,
    errors.DataError: 2,
    errors.HierarchyError: 2,
    errors.RefusedError: 2,
    errors.OutputError: 2,
    errors.InstallationError: 2,
    errors.InfeasibleError: 3,
    errors.BudgetError: 4,
    errors.SearchError: 5,
    errors.GuaranteeError: 70,
}


@pytest.fixture
def failing(monkeypatch: pytest.MonkeyPatch):
    """Makes `sfumato anonymize` fail in a chosen way."""

    def choose(fault: BaseException) -> None:
        def fail(*_: object, **__: object) -> None:
            raise fault

        monkeypatch.setattr(sfumato.cli.anonymize, "release", fail)

    return choose


@pytest.mark.parametrize("kind", CODES, ids=lambda kind: kind.__name__)
def test_an_error_ends_with_its_exit_code(failing, capsys, kind):
    failing(kind("It has 3, it needs 5.", hint="Lower it to 3."))
    assert main(COMMAND) == CODES[kind]
    said = capsys.readouterr()
    assert said.err == "Error: It has 3, it needs 5.\nHint: Lower it to 3.\n"
    assert said.out == ""


def test_every_error_has_its_code_tested():
    assert set(CODES) == set(errors.SfumatoError.__subclasses__())


def test_an_error_as_json_is_on_stdout_and_in_words_in_the_log(failing, capsys):
    failing(errors.InfeasibleError("It has 3, it needs 5.", hint="Lower it."))
    assert main([*COMMAND, "--json"]) == 3
    said = capsys.readouterr()
    assert json.loads(said.out) == {
        "error": {
            "kind": "InfeasibleError",
            "message": "It has 3, it needs 5.",
            "hint": "Lower it.",
            "exit_code": 3,
        }
    }
    assert said.err == "Error: It has 3, it needs 5.\nHint: Lower it.\n"


def test_on_a_terminal_an_error_as_json_is_shown_once(failing, capsys, monkeypatch):
    failing(errors.InfeasibleError("It has 3, it needs 5.", hint="Lower it."))
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert main([*COMMAND, "--json"]) == 3
    assert capsys.readouterr().err == ""


def test_values_at_fault_stay_unsaid(failing, capsys):
    failing(errors.HierarchyError("1 value is not covered.", values=["Nurse"]))
    main(COMMAND)
    main([*COMMAND, "--json"])
    said = capsys.readouterr()
    assert "Nurse" not in said.out + said.err


def test_values_at_fault_are_shown_to_who_asks(failing, capsys):
    failing(
        errors.HierarchyError("2 values are not covered.", values=["a", "b\x1b[2J"])
    )
    main([*COMMAND, "--show-values"])
    assert "Values: 'a', 'b\\x1b[2J'\n" in capsys.readouterr().err


def test_values_in_json_are_shown_to_who_asks(failing, capsys):
    failing(errors.HierarchyError("1 value is not covered.", values=["a"]))
    main([*COMMAND, "--json", "--show-values"])
    assert json.loads(capsys.readouterr().out)["error"]["values"] == ["a"]


def test_very_many_values_are_counted(failing, capsys):
    values = [str(number) for number in range(MOST_VALUES + 3)]
    failing(errors.HierarchyError("Values are not covered.", values=values))
    main([*COMMAND, "--show-values"])
    assert capsys.readouterr().err.endswith("and 3 more\n")


def test_a_name_cannot_steer_the_terminal(failing, capsys):
    failing(errors.DataError("Column 'a\x1b[31m' is twice there."))
    main(COMMAND)
    assert "\x1b" not in capsys.readouterr().err


def test_an_unexpected_fault_names_its_type_and_no_cell(failing, capsys):
    failing(ValueError("could not convert 'Anna Smith'"))
    assert main(COMMAND) == 70
    said = capsys.readouterr().err
    assert "(ValueError)" in said
    assert "Anna" not in said
    assert "Traceback" not in said


def test_an_unexpected_fault_is_traced_for_who_asks(failing, capsys, monkeypatch):
    monkeypatch.setenv("SFUMATO_DEBUG", "1")
    failing(ValueError("could not convert"))
    assert main(COMMAND) == 70
    assert "Traceback" in capsys.readouterr().err


def test_ctrl_c_ends_with_130(failing, capsys):
    failing(KeyboardInterrupt())
    assert main(COMMAND) == 130
    assert capsys.readouterr().err == "Error: Stopped. Nothing is left half-written.\n"


def test_a_file_that_cannot_be_opened_is_an_input_error(failing, capsys):
    failing(PermissionError(13, "Permission denied", "policy.toml"))
    assert main(COMMAND) == 2
    assert "'policy.toml' cannot be used: Permission denied." in capsys.readouterr().err


@pytest.mark.parametrize(
    "words",
    [
        ["anonymize"],
        ["anonymize", "policy.toml", "--no-such-option"],
        ["no-such-command"],
        ["list", "no-such-part"],
        ["check", "data.csv", "--k", "five"],
        [],
    ],
)
def test_a_command_that_cannot_be_understood_ends_with_2(capsys, words):
    assert main(words) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert "Traceback" not in said.err


def test_a_misused_command_points_to_its_help(capsys):
    main(["check"])
    assert (
        "Hint: 'sfumato check --help' shows what there is." in capsys.readouterr().err
    )


def test_a_misused_command_answers_json_with_json(capsys):
    main(["check", "--json"])
    assert json.loads(capsys.readouterr().out)["error"]["kind"] == "UsageError"


def test_two_seeds_are_refused(capsys):
    words = [*COMMAND, "--seed", "0" * 32, "--insecure-seed", "1"]
    assert main(words) == 2
    assert "--seed and --insecure-seed cannot both be given." in capsys.readouterr().err


def test_a_seed_that_is_none_is_refused(capsys):
    assert main([*COMMAND, "--seed", "xyz"]) == 2
    assert "A seed is 32 hexadecimal digits." in capsys.readouterr().err


def test_a_reader_that_leaves_makes_no_noise():
    program = "import sys; from sfumato.cli import main; sys.exit(main(['list']))"
    run = subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert run.stdout is not None
    run.stdout.close()
    _, said = run.communicate()
    assert (run.returncode, said) == (0, b"")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="There is no full device.")
@pytest.mark.parametrize("words", [["list", "--json"], ["list"]])
def test_an_output_that_takes_nothing_more_is_said_on_stderr(words):
    program = f"import sys; from sfumato.cli import main; sys.exit(main({words!r}))"
    with Path("/dev/full").open("wb") as full:
        run = subprocess.run(
            [sys.executable, "-c", program], stdout=full, stderr=subprocess.PIPE
        )
    assert run.returncode == 2
    assert b"No space left on device" in run.stderr
    assert b"Free space" in run.stderr
    assert b"Traceback" not in run.stderr


HEAVY = ("numba", "numpy", "pyarrow", "pydantic", "rich", "narwhals")


@pytest.mark.parametrize("library", HEAVY)
@pytest.mark.parametrize("words", [["--help"], ["--version"], ["anonymize", "--help"]])
def test_help_and_version_do_not_load(library, words):
    program = (
        "import sys; from sfumato.cli import main; "
        f"code = main({words!r}); assert code == 0; "
        f"sys.exit({library!r} in sys.modules)"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True)
    assert run.returncode == 0


@pytest.mark.parametrize("library", ["pandas", "scipy"])
def test_the_program_leaves_out_what_it_does_not_use(library, tmp_path):
    table = tmp_path / "table.csv"
    table.write_text("age\n20\n20\n", encoding="utf-8")
    # The program ends its process, and runs exit handlers before that.
    program = (
        "import atexit, sys; from sfumato.cli import main; "
        f"atexit.register(lambda: print({library!r} in sys.modules)); "
        f"sys.argv = ['sfumato', 'check', {str(table)!r}, '--quasi', 'age', '--k', '2']; "
        "main()"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True)
    assert run.returncode == 0
    assert run.stdout.split()[-1] == b"False"


def test_pandas_can_be_imported_after_arrow_was_told_that_there_is_none():
    program = (
        "import sys; from sfumato.cli.own_process import keep_pandas_away; "
        "keep_pandas_away(); import pyarrow as pa; pa.array(['a']); "
        "assert 'pandas' not in sys.modules; import pandas; pandas.DataFrame()"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True)
    assert run.returncode == 0


RELEASING = """
from pathlib import Path
from sfumato.cli.own_process import keep_freed_arrow_memory
keep_freed_arrow_memory()
import numpy as np, pyarrow as pa
def pages():
    return int(Path("/proc/self/statm").read_text().split()[1])
block = pa.allocate_buffer(1 << 27)
np.frombuffer(block, dtype=np.uint8)[:] = 1
full = pages()
del block
pa.default_memory_pool().release_unused()
print((full - pages()) * 4096 > 1 << 26)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_arrow_still_returns_memory_that_it_is_asked_to_release():
    run = subprocess.run([sys.executable, "-c", RELEASING], capture_output=True)
    assert run.stdout.split() == [b"True"]


STOPPED_WHILE_ARROW_READS = """
import io, os, signal
from sfumato.cli import own_process, signals
from sfumato.cli.early_stop import GENTLE
from threading import Event

stop = Event()
signals.watch()
GENTLE.enter(stop)
own_process.prepare(["anonymize", "policy.toml"])
from pyarrow import csv

class Lines(io.BytesIO):
    def read(self, *size):
        if self.tell() == 0:
            os.kill(os.getpid(), signal.SIGINT)
        return super().read(*size)

print(csv.read_csv(Lines(b"a,b\\n1,2\\n")).num_rows, stop.wait(10))
"""


def test_a_signal_that_ends_only_a_search_lets_arrow_read_on():
    found = subprocess.run(
        [sys.executable, "-c", STOPPED_WHILE_ARROW_READS],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert found.stdout == "1 True\n", found.stderr


FAILS_WHILE_IT_ENDS = """
import contextlib, io, os, signal, sys, time
from threading import Event
from sfumato.cli import app, signals
from sfumato.data.unfinished_files import UNFINISHED

removing = Event()
UNFINISHED.remove_all = lambda: (removing.set(), time.sleep(0.5))
words = ["check", "gone.csv", "--quasi", "a", "--k", "2"]
with contextlib.redirect_stderr(io.StringIO()):
    app.run(words)
signals.watch()
os.kill(os.getpid(), signal.SIGTERM)
removing.wait()
sys.exit(app.run(words))
"""


def test_what_fails_because_the_process_ends_is_not_told():
    found = subprocess.run(
        [sys.executable, "-c", FAILS_WHILE_IT_ENDS],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert found.returncode == 130
    assert found.stderr == "Error: Stopped. Nothing is left half-written.\n"


def test_how_long_arrow_keeps_memory_can_be_set_from_outside(monkeypatch):
    monkeypatch.setenv(own_process.ARROW_RETURNS, "7")
    own_process.keep_freed_arrow_memory()
    assert os.environ[own_process.ARROW_RETURNS] == "7"


def test_version_names_the_product(capsys):
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.startswith("sfumato ")


def test_help_lists_every_command(capsys):
    assert main(["--help"]) == 0
    said = capsys.readouterr().out
    for name in ("demo", "init", "anonymize", "check", "list"):
        assert f"\n  {name} " in said


@pytest.mark.skipif(os.name != "posix", reason="a shell closes the streams")
@pytest.mark.parametrize(
    ("words", "closed", "code"),
    [("list", "2>&-", 0), ("nonsense", "2>&-", 2), ("list", ">&-", 0)],
)
def test_a_process_without_one_of_its_streams_ends_as_any_other(words, closed, code):
    command = f'"{sys.executable}" -m sfumato {words} {closed}'
    run = subprocess.run(["sh", "-c", command], capture_output=True)
    assert (run.returncode, run.stderr) == (code, b"")


UNDER_A_LIMIT = """
import resource, sys
most = int(sys.argv.pop(1)) << 20
resource.setrlimit(resource.RLIMIT_AS, (most, most))
from sfumato.cli import main
main()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="other systems ignore the limit")
@pytest.mark.parametrize("megabytes", [200, 400])
def test_a_run_without_enough_memory_says_so(tmp_path, megabytes):
    """200 do not load the libraries, 400 do not compile."""
    table = "".join(f"{20 + row % 50},{row % 3}\n" for row in range(50_000))
    (tmp_path / "people.csv").write_text(f"age,illness\n{table}", encoding="utf-8")
    (tmp_path / "policy.toml").write_text(
        '[data]\npath = "people.csv"\n[columns]\nage = {role = "quasi"}\n'
        'illness = {role = "sensitive"}\n[[require]]\nmodel = "k-anonymity"\nk = 5\n',
        encoding="utf-8",
    )
    run = subprocess.run(
        [sys.executable, "-c", UNDER_A_LIMIT, str(megabytes), *COMMAND],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert run.returncode == 2, run.stderr
    assert run.stderr.startswith("Error: Memory ran out; ")
    assert "Traceback" not in run.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "people.csv",
        "policy.toml",
    ]


def test_a_command_with_a_typo_is_guessed_once(capsys):
    assert main(["anonymise", "policy.toml"]) == 2
    assert capsys.readouterr().err.count("Did you mean 'anonymize'?") == 1


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has these pages")
@pytest.mark.parametrize(
    ("kind", "most"), [("v", "60000"), ("d", "60000"), ("v", None)]
)
def test_room_for_large_pages_is_taken_only_where_memory_is_not_limited(kind, most):
    """Address space that is taken here would be missing elsewhere."""
    code = (
        "from sfumato.cli import own_process as it; taken = []; "
        "it.ask_for_large_pages = taken.append; it.keep_freed_memory(); "
        "print(len(taken), sum(bytearray(b'x' * 10_000_000)[:3]))"
    )
    limit = f"ulimit -{kind} {most or 'unlimited'}"
    found = subprocess.run(
        ["bash", "-c", f'{limit}; exec "$0" -c "$1"', sys.executable, code],
        capture_output=True,
        text=True,
    )
    taken = 0 if most else 1
    assert found.stdout == f"{taken} {3 * ord('x')}\n", found.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has these pages")
def test_a_process_without_room_for_large_pages_works_as_before():
    code = (
        "import ctypes; from sfumato.cli.own_process import ask_for_large_pages; "
        "ask_for_large_pages(ctypes.CDLL(None)); print('fine')"
    )
    found = subprocess.run(
        ["bash", "-c", 'ulimit -v 60000; exec "$0" -c "$1"', sys.executable, code],
        capture_output=True,
        text=True,
    )
    assert found.stdout == "fine\n", found.stderr
