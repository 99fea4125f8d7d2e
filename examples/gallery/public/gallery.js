// The page: signs in, uploads, and shows each photograph in the size that fits.
const api = "backend/api";
const widths = [160, 480, 1200];
const part = (id) => document.getElementById(id);

let credential = "";
let me = null;

/** A request with the bearer token; the answer's JSON, or an error with what the service said. */
async function ask(method, path, body) {
  const isForm = body instanceof FormData;
  const response = await fetch(`${api}${path}`, {
    method,
    headers: { ...(credential && { Authorization: `Bearer ${credential}` }), ...(body && !isForm && { "Content-Type": "application/json" }) },
    body: isForm ? body : body && JSON.stringify(body),
  });
  const answer = response.status === 204 ? null : await response.json();
  if (response.ok) return answer;
  throw new Error(Array.isArray(answer) ? answer.map(({ field, message }) => `${field} ${message}`).join(", ") : answer.error);
}

/** Runs what a form does, and says what went wrong. */
function onSubmit(form, act) {
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    part("message").textContent = "";
    try {
      await act(new FormData(form), event.submitter);
    } catch (error) {
      part("message").textContent = error.message;
    }
  });
}

onSubmit(part("sign-in"), async (data, button) => {
  const account = { username: data.get("username"), password: data.get("password") };
  if (button?.value === "register") await ask("POST", "/auth/register", account);
  credential = (await ask("POST", "/auth/login", account)).accessToken;
  me = await ask("GET", "/auth/me");
  part("who").textContent = `Signed in as ${me.username}`;
  part("sign-in").hidden = true;
  part("upload").hidden = false;
  await show();
});

onSubmit(part("upload"), async (data) => {
  data.set("owner", me.id);
  await ask("POST", "/collections/photos", data);
  part("upload").reset();
  await show();
});

async function show() {
  const { items } = await ask("GET", "/collections/photos?sort=createdAt:desc&limit=100");
  // An <img> sends no bearer token: for two minutes this one stands in its address.
  const { token } = await ask("POST", "/files/token");
  part("photos").replaceChildren(...items.map((photo) => figure(photo, token)));
}

function figure(photo, token) {
  const at = (width) => `${photo.image.url}?width=${width}&token=${encodeURIComponent(token)}`;
  const image = document.createElement("img");
  image.alt = photo.title;
  // Known before the bytes are: nothing jumps while the page loads.
  image.width = photo.image.width;
  image.height = photo.image.height;
  image.sizes = "14rem";
  image.srcset = widths.map((width) => `${at(width)} ${width}w`).join(", ");
  image.src = at(480);
  const caption = document.createElement("figcaption");
  caption.append(photo.title);
  if (photo.owner === me.id) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = "Remove";
    button.setAttribute("aria-label", `Remove ${photo.title}`);
    button.addEventListener("click", async () => {
      await ask("DELETE", `/collections/photos/${photo.id}`);
      await show();
    });
    caption.append(button);
  }
  const whole = document.createElement("figure");
  whole.append(image, caption);
  return whole;
}
