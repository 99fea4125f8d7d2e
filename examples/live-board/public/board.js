// The page: signs in, reads the board, and follows every change that the signed-in user may see.
import { createClient } from "/client/index.js";

const lanes = ["todo", "doing", "done"];
const states = {
  idle: "",
  connecting: "Connecting…",
  live: "Live",
  waiting: "Connection lost: trying again. What you miss comes when it is back.",
  signedOut: "",
};
const part = (id) => document.getElementById(id);
const client = createClient({ url: new URL("/backend", location.href).href, tenant: "board", storage: localStorage });
const cards = client.collection("cards");

/** What is shown, by id. */
const items = new Map();
let me = null;

/** Puts the card where it belongs; the newest version of it wins, whichever way it came. */
function show(card) {
  const known = items.get(card.id);
  if (known && known.card.updatedAt > card.updatedAt) return;
  const element = known?.element ?? create(card.id);
  items.set(card.id, { card, element });
  element.querySelector(".title").textContent = card.title;
  element.classList.toggle("private", card.private);
  const lane = document.querySelector(`[data-lane="${card.lane}"]`);
  if (element.parentElement !== lane) lane.append(element);
  element.querySelector(".back").disabled = card.lane === lanes[0];
  element.querySelector(".on").disabled = card.lane === lanes.at(-1);
}

function hide(id) {
  items.get(id)?.element.remove();
  items.delete(id);
}

function create(id) {
  const element = part("card").content.firstElementChild.cloneNode(true);
  const move = (by) => attempt(() => cards.update(id, { lane: lanes[lanes.indexOf(items.get(id).card.lane) + by] }).then(show));
  element.querySelector(".back").addEventListener("click", () => move(-1));
  element.querySelector(".on").addEventListener("click", () => move(1));
  element.querySelector(".remove").addEventListener("click", () => attempt(() => cards.delete(id).then(() => hide(id))));
  return element;
}

/** Reads the whole board anew. A card that is gone meanwhile goes. */
async function reload() {
  const found = new Set();
  for await (const card of cards.each()) {
    found.add(card.id);
    show(card);
  }
  for (const id of [...items.keys()]) if (!found.has(id)) hide(id);
}

/** Runs what a button does, and says what went wrong. */
async function attempt(act) {
  part("message").textContent = "";
  try {
    await act();
  } catch (error) {
    part("message").textContent = error.message;
  }
}

function onSubmit(form, act) {
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    void attempt(() => act(new FormData(form), event.submitter));
  });
}

onSubmit(part("sign-in"), async (data, button) => {
  const account = { username: data.get("username"), password: data.get("password") };
  if (button?.value === "register") await client.auth.register(account);
  await client.auth.login(account);
  part("sign-in").reset();
});

onSubmit(part("add"), async (data) => {
  show(await cards.create({ title: data.get("title"), lane: "todo", private: data.has("private"), owner: me.id }));
  part("add").reset();
});

onSubmit(part("account"), () => client.auth.logout());

let subscription;

/** Shows the board, or the way to it. */
async function enter() {
  me = client.auth.isSignedIn ? await client.auth.me().catch((error) => {
    if (error.status !== 401) throw error;
    return null;
  }) : null;
  for (const id of ["board", "add", "account"]) part(id).hidden = me === null;
  part("sign-in").hidden = me !== null;
  part("who").textContent = me === null ? "" : `Signed in as ${me.username}`;
  subscription?.close();
  for (const id of [...items.keys()]) hide(id);
  if (me === null) return;
  // Listen first, then read: what changes in between is told, and nothing is missed.
  subscription = cards.subscribe((change) => {
    if (change.action === "resync") void attempt(reload);
    else if (change.action === "delete") hide(change.record.id);
    else show(change.record);
  });
  await subscription.ready;
  await reload();
}

client.realtime.onState((state) => {
  part("state").textContent = states[state];
});
client.auth.onChange(() => void attempt(enter));
void attempt(enter);
