// The CommonJS entry point: the same module, by require(esm) of Node 20.19 and later.
import client = require("./index.js");
export = client;
