import { enlarge } from "./dom.js";

enlarge();
