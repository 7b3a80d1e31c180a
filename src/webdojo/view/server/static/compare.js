import { enlarge } from "/static/dom.js";

enlarge();
