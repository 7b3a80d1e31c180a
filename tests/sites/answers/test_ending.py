"""Endings of tasks that ask for no answer: which of them say that the task was not done."""

from __future__ import annotations

import pytest

from webdojo.sites.answers.ending import gives_up

TASK = "Add Oak Chair to the cart."
NOT_DONE = """
I have done only a part of it so far.
I only did the first half.
This is partly done.
It is partially complete.
The task is half done.
I got halfway through.
Only the first step is done.
I did some of it.
I did most of it, but one field is missing.
All but the last step is done.
Everything except the last step is done.
I completed two of the three steps.
Done, apart from the last form.
I did what I could.
The first part is done; the second is left.
The rest is up to you.
You will have to finish it yourself.
Please complete the last step yourself.
Someone else has to do the rest.
I'm not done.
I am not finished yet.
Not quite done.
Almost done.
Nearly finished.
I was about to add it.
I would add it next.
I'll add it now.
I will add Oak Chair to the cart.
I am adding it now.
I am still working on it.
Working on it.
In progress.
Still loading.
I was interrupted before I could do it.
I had no time left.
There was no time to finish.
I stopped before the end.
I stopped early.
I added Oak Table instead.
I added a different product instead.
I added another one instead of it.
I put the wrong one into the cart.
It ended up in the wrong place.
I did it on another site.
I did this on a different website.
It was done on the wrong page.
I opened another page instead.
I accidentally added something else.
By mistake I added the wrong one.
I took a similar one, because it was cheaper.
I only looked at it.
I just opened the page and did nothing.
I only searched for it.
I merely read the page.
I decided not to add it.
I chose not to do it.
I would rather not do this.
I refuse to do this.
I do not want to do this.
I did not add it.
I didn't add Oak Chair to the cart.
Oak Chair has not been added to the cart.
Oak Chair is not in the cart.
The cart is empty.
The cart remains empty.
Nothing is in the cart.
I haven't got around to it.
I removed it again afterwards.
I undid it.
I took it back out again.
I added it and then removed it.
I cancelled it.
I have reverted the change.
The change was rolled back.
It was not saved.
The form was not submitted.
It did not go through.
The submission was rejected.
It was declined.
There was an error.
An error occurred.
It crashed.
The page timed out.
Something went wrong.
Access denied.
I was blocked by a captcha.
I need your password first.
I need more information.
Please log in first.
Please tell me which one.
I am waiting for your confirmation.
Shall I go on?
Do you want me to add it?
It is not clear what you want.
I am not sure whether it worked.
I'm not sure that this is right.
I think it may have worked.
It might be done.
Maybe it is done.
Probably done.
I guess it's done.
I could not tell whether it was saved.
I do not see a confirmation.
I only managed to open the list.
I got as far as the product page.
I made it to the second page only.
This remains to be done.
To be continued.
To do: add it to the cart.
TODO
Task aborted.
Aborted.
Cancelled.
Status: failed
Status: incomplete
Success: false
{"status": "failed"}
{"success": false}
{"done": false}
Result: no
No.
Nope.
Not done.
Error: timeout
I tried, but it did not work.
I tried to add it.
I attempted to add it to the cart.
I attempted this, without success.
Unfortunately, I had to stop.
Sorry, I had to give up.
I skipped it.
I skipped the last step.
I left one field empty.
I left out the second one.
One of them is missing.
The second item is still missing.
I did the first but not the second.
I finished the first page and not the rest.
It is done only in part.
It's not fully done.
This is not completely done.
It isn't entirely finished.
Some of it is done.
50% done.
Half of it is done.
""".strip().splitlines()
"""Denied, put off, left to the reader, done in part, elsewhere or to something else, undone again, in doubt."""
DONE = """
Done.
All set!
The task is complete.
I have added Oak Chair to the cart.
Oak Chair is now in the cart.
It's in the cart.
Yes, that's done now.
Everything has been carried out as requested.
The request is met.
I opened the site, found what was needed, and finished the task.
finish("done")
terminate(status="success")
{"status": "success"}
{"success": true, "error": null}
{"done": true}
Status: complete
Success!
Finished, all parts of it.
Both parts are done.
All of it is done.
Nothing is left to do.
There is nothing left to do.
No further steps are needed.
No more steps are needed.
Nothing else needs to be done.
Nothing remains to be done.
No errors occurred.
There were no errors.
It worked without any problem.
It worked on the first try.
I had to try twice, but it worked.
The first attempt failed, but the second one worked.
At first the page did not load, but then it did, and I added it.
I added only this one.
I only added what you asked for.
I added it and nothing else.
I added just Oak Chair, no other product.
Done; I left everything else as it was.
Done. I didn't change anything else.
I did not touch anything else.
I closed the popup first and then added it.
I dismissed the cookie notice, which was in the way.
I searched for it, opened its page and added it.
I found it on the second page of the list.
I ended on the page that you wanted.
You are now on the right page.
This is the page that you asked for.
The page is open.
I'm on the page of the cheapest one.
Here it is.
I did it.
I did all of it.
I did what you asked.
I have done what you asked for.
I did everything.
Everything is done.
Everything was filled in and sent.
It is fully done.
It's completely finished.
100% done.
Both of the steps are done.
All three steps are done.
Step 2 of 2 done.
Please let me know if you need anything else.
Done. Do you want me to do anything else?
Is there anything else I can do for you?
Done, you can check out whenever you like.
Done. The rest of the cart is unchanged.
I put it into the cart; it is the only item there.
The form was submitted and accepted.
It was saved without an error.
The site confirmed it.
I saw the confirmation.
It says that it was added.
Mission accomplished.
That's taken care of.
That's it.
OK
Okay, done.
Completed successfully.
The item was missing from the first page, so I searched for it.
It was not on the first page, so I went to the next.
There is one item in the cart.
The cart has one item now: Oak Chair.
I did not check out, as you did not ask for it.
I have not paid for it.
Done, and I did not log out.
The popup could not be closed at first, but in the end I added it.
I'm done.
Finally done!
Now it is done.
It's been a pleasure.
I changed only what was asked.
No other changes were made.
I left the other fields as they were.
I left the other fields empty.
I sent the form only once.
I filled in each part of the form and sent it.
I opened part 2 of the form and sent it as well.
""".strip().splitlines()
"""Reports of success, also of one after a trouble, and of what was left alone."""


@pytest.mark.parametrize("ending", NOT_DONE)
def test_what_was_not_done_or_not_wholly_is_heard(ending: str) -> None:
    assert gives_up(ending, TASK)


@pytest.mark.parametrize("ending", DONE)
def test_a_report_of_success_is_taken_for_one(ending: str) -> None:
    assert not gives_up(ending, TASK)


@pytest.mark.parametrize(
    ("task", "ending"),
    [
        ("Delete the message from Tom.", "I deleted it."),
        ("Cancel the booking of the room.", "I cancelled it."),
        ("Show the threads marked as Not solved.", "I set the filter: threads marked as Not solved are shown."),
        ("Open the page of the cheapest hotel.", "I have opened Not a Half Bad Inn."),
        ("Open the second page of the list.", "I am on page 2 of 5 of the list."),
        ("Report that the sum is wrong.", "I sent the report that the sum is wrong."),
    ],
)  # fmt: skip
def test_words_of_the_task_and_names_say_nothing(task: str, ending: str) -> None:
    assert not gives_up(ending, task, ["Not a Half Bad Inn"])
