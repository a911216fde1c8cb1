"""A first line that is data is refused, and never quoted."""

from __future__ import annotations

import pytest

from sfumato.cli import main
from sfumato.errors import DataError
from sfumato.io.headers import cells_like_data
from sfumato.io.read import read_source

HEADLESS = {
    "numbers": "39,State-gov,77516\n50,Private,83311\n38,Private,215646\n",
    "dates": "ann,1990-01-02\nbob,1991-03-04\n",
    "german dates": "ann;2.1.1990\nbob;4.3.1991\n",
    "words": "Male,Private\nFemale,Private\nMale,State-gov\n",
    "missing cells": "39,a\n?,b\n40,c\n",
    "one column": "5\n6\n7\n",
    "decimals": "a,1.5\nb,-2e3\n",
    "a stray word among numbers": "ann,39\nbob,40\ncid,41\ndan,42\neva,43\nfay,old\n",
    "times": "ann,12:30\nbob,08:15\n",
    "mail": "ann@example.org,flu\nbob@example.org,gout\n",
    "amounts": "ann;$1,200.50\nbob;$3\n",
    "percentages": "ann,7%\nbob,12.5 %\n",
    "telephones": "ann,+49 30 123456\nbob,030/98 76 54\n",
    "diagnoses": "ann,E11.9\nbob,I10\n",
    "thousands": "ann;1.234.567,00\nbob;12.000\n",
    "addresses of machines": "10.0.0.1,ann\n10.0.0.2,bob\n",
}
NAMED = {
    "words above numbers": "age,job\n39,clerk\n",
    "one number above words": "7,age\nx,39\n",
    "years": "country,2019,2020\nCuba,1,2\nIndia,3,4\n",
    "running numbers": "0,1,2\n7,8,9\n",
    "running numbers from one": "1,2\n7,8\n",
    "words alone": "job,town\nclerk,Rome\n",
    "a word that occurs once below": "kind,town,street\nkind,Rome,Via Appia\n",
    "a header alone": "39,40\n",
    "words above codes": "name,code\nann,E11.9\nbob,I10\n",
    "words above times": "name,at\nann,12:30\nbob,08:15\n",
    "numbered questions": "Q01,Q02\nyes,no\nno,no\n",
    "numbered questions of numbers": "Q01,Q02\n1,5\n2,4\n",
    "few numbers among words": "what,n\nx,one\ny,two\nz,3\n",
}


def rows(text):
    delimiter = ";" if ";" in text else ","
    return [line.split(delimiter) for line in text.splitlines()]


@pytest.mark.parametrize("name", HEADLESS)
def test_a_missing_header_is_noticed(name):
    assert cells_like_data(rows(HEADLESS[name])) > 0


@pytest.mark.parametrize("name", NAMED)
def test_a_header_is_not_taken_for_data(name):
    assert cells_like_data(rows(NAMED[name])) == 0


@pytest.mark.parametrize("name", HEADLESS)
def test_reading_says_so_without_a_cell(name, tmp_path):
    place = tmp_path / "people.csv"
    place.write_text(HEADLESS[name])
    with pytest.raises(DataError, match="seems to have no header") as error:
        read_source(place)
    assert not [cell for cell in rows(HEADLESS[name])[0] if f"'{cell}'" in str(error)]


@pytest.mark.parametrize("json", [(), ("--json",)])
def test_commands_quote_nothing_of_a_file_without_a_header(tmp_path, capsys, json):
    place = tmp_path / "people.csv"
    place.write_text("39,canary7Qx,flu\n50,Private,gout\n38,Private,flu\n")
    words = ["check", str(place), "--quasi", "age", "--k", "2", *json]
    assert main(words) == 2
    said = capsys.readouterr()
    assert "no header" in said.out + said.err
    assert "canary7Qx" not in said.out + said.err


def test_columns_that_share_a_name_are_told_by_place(tmp_path):
    place = tmp_path / "people.csv"
    place.write_text("canary7Qx,b,canary7Qx\nx,y,z\n")
    with pytest.raises(DataError, match="columns 1, 3 of 3 share a name") as error:
        read_source(place)
    assert "canary7Qx" not in str(error.value)
