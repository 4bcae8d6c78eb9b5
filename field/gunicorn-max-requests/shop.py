import flask
import sqlalchemy

app = flask.Flask(__name__)
table = sqlalchemy.Table("article", sqlalchemy.MetaData(), sqlalchemy.Column("id", sqlalchemy.Integer), sqlalchemy.Column("name", sqlalchemy.String))


@app.get("/article/<int:number>")
def article(number):
    statement = sqlalchemy.select(table).where(table.c.id == number)
    return flask.jsonify(number=number, statement=str(statement))
