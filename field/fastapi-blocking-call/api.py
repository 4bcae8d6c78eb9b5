"""Reads an article from an application that answers after 10 ms."""
import os
import urllib.request

import fastapi

app = fastapi.FastAPI()
ARTICLES = f"http://127.0.0.1:{os.environ['PORT2']}/"


def article():
    with urllib.request.urlopen(ARTICLES) as answer:
        return {"article": answer.read().decode()}


if os.environ["ENDPOINT"] == "async":

    @app.get("/article")
    async def get_article():
        return article()

else:

    @app.get("/article")
    def get_article():
        return article()
