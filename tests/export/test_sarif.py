"""SARIF and annotations: what is in a finding is data."""

from gradviz.export.sarif import Located, annotation, sarif


def test_an_annotation_is_one_line_whatever_it_says():
    one = Located("a,b:c.py", 3, "GV101", "warning", "100 % of\nthis::error file=x::", "In [2]")
    said = annotation(one)
    assert "\n" not in said
    assert said == (
        "::warning file=a%2Cb%3Ac.py,line=3,title=GV101::In [2]: 100 %25 of%0Athis::error file=x::"
    )


def test_a_run_names_each_rule_once():
    found = [Located("a.py", n, rule, "note", "said") for n, rule in ((0, "GV101"), (4, "GV101"))]
    run = sarif([*found, Located("a.py", 2, "ValueError", "error", "bad")], "1.0")["runs"][0]
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == ["GV101", "ValueError"]
    assert [one["ruleIndex"] for one in run["results"]] == [0, 0, 1]
    lines = [r["locations"][0]["physicalLocation"]["region"]["startLine"] for r in run["results"]]
    assert lines == [1, 4, 2]
