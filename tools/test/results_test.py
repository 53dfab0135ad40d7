# SPDX-License-Identifier: MIT
"""What programs of tests are run with, and how they end."""

import sys

import results

SAY = "import os; print(os.environ['ATOLL_PATIENT'], os.environ.get('LIKED', 'no'), os.environ['PATH'] != '')"


def test_a_program_is_patient_and_has_what_it_is_given():
    assert results.call([sys.executable, "-c", SAY], 60).output == "1 no True\n"
    assert results.call([sys.executable, "-c", SAY], 60, env={"LIKED": "yes"}).output == "1 yes True\n"


def test_what_a_test_gives_comes_before_what_all_have():
    assert results.call([sys.executable, "-c", SAY], 60, env={"ATOLL_PATIENT": "2"}).output == "2 no True\n"


def test_a_program_past_its_limit_is_ended_with_a_dump():
    run = results.call([sys.executable, "-c", "import time; time.sleep(1000)"], 1,
                       dump=lambda pgid: f"dump of {pgid > 0}")
    assert run.timed_out and "dump of True" in run.output, run.output
