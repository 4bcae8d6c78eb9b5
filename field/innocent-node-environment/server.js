const express = require("express");

const application = express();
const articles = Array.from({ length: 100 }, (_, id) => ({ id, name: `article ${id}`, tags: ["a", "b", "c"], price: id * 1.5 }));
application.get("/articles/:id", (request, response) => response.json({ article: articles[request.params.id], others: articles.slice(0, 20) }));
application.listen(Number(process.argv[2]), "127.0.0.1");
