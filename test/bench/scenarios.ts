// The scenarios of the bench, in the order of their numbers.
import type { MongoScenario, Scenario } from "./scenario.js";
import { mongoCreate } from "./scenarios/m3-create.js";
import { mongoList } from "./scenarios/m2-list.js";
import { mongoView } from "./scenarios/m1-view.js";
import { twoNodes } from "./scenarios/m4-two-nodes.js";
import { coldStart } from "./scenarios/s15-start.js";
import { create, createAlone } from "./scenarios/s3-create.js";
import { credentials } from "./scenarios/s8-credentials.js";
import { download } from "./scenarios/s12-download.js";
import { burst, fanOut } from "./scenarios/s9-fan-out.js";
import { hook } from "./scenarios/s14-hook.js";
import { images } from "./scenarios/s11-images.js";
import { list } from "./scenarios/s2-list.js";
import { filesBesideLogins, login } from "./scenarios/s6-login.js";
import { readsBesideWrites } from "./scenarios/s5-reads-beside-writes.js";
import { scan } from "./scenarios/s13-scan.js";
import { view } from "./scenarios/s1-view.js";

export const scenarios: readonly Scenario[] = [
  view, list, create, createAlone, readsBesideWrites, login, filesBesideLogins, credentials,
  fanOut, burst, images, download, scan, hook, coldStart,
];

/** The same on a MongoDB server, where one is given. */
export const mongoScenarios: readonly MongoScenario[] = [mongoView, mongoList, mongoCreate, twoNodes];
