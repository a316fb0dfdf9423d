"""Two databases from one template that differ only in one reviewer's hidden votes, and what people get from each.

Who writes a page, a parameter, an act or a command says here what goes in there, and nothing else is to be done:

    values.py      what goes into addresses, and into the parameters that pages read
    pages_sent.py  what people send to pages (forms)
    api_sent.py    what people send to the API
    typed.py       what is typed after a command's name

and, where it takes another state than those of the study in ``scene.py``, gives the scene that state. A test that
lacks something says which of these it is.

Nothing of an answer is masked. What is random or of the moment by nature is made the same in both instead
(``asking.py``): the clock stands still (times of new rows, expiry of cookies and answers), and the tokens of forms,
nonces, session keys and ids of new rows are drawn from a stream of bytes that begins anew with each request. Of the
queries one thing is masked, since Django counts it up in each process: the names of savepoints.
"""
