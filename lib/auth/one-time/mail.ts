// The mails that carry one-time tokens: plain, short, with the tenant's name and the link to the tenant's own app.
import type { Mail } from "../../mailer/mailer.js";
import type { Kind } from "./kinds.js";

/** Puts the token in place of `{token}`, else adds it as the query parameter `token`, before a fragment. */
export function linkWith(linkUrl: string, token: string): string {
  if (linkUrl.includes("{token}")) return linkUrl.replaceAll("{token}", token);
  const hash = linkUrl.indexOf("#");
  const address = hash < 0 ? linkUrl : linkUrl.slice(0, hash);
  const fragment = hash < 0 ? "" : linkUrl.slice(hash);
  const separator = !address.includes("?") ? "?" : /[?&]$/.test(address) ? "" : "&";
  return `${address}${separator}token=${token}${fragment}`;
}

export function composeMail(kind: Kind, about: { readonly to: string; readonly tenant: string; readonly username: string; readonly link: string }): Mail {
  const tenant = oneLine(about.tenant);
  const text = [
    "Hello,",
    "",
    kind.opening(tenant, named(about.username)),
    "",
    about.link,
    "",
    "The link works once, for 30 minutes. If it was not you who asked, ignore this mail: nothing has changed.",
    "",
  ].join("\n");
  return { to: about.to, subject: kind.subject(tenant), text };
}

/**
 * The user name tells several accounts of one address apart. Whoever registers chooses it, so that one which could be
 * a message or a link of its own is left out.
 */
function named(username: string): string {
  return /^[\p{L}\p{N}_-]{1,40}$/u.test(username) ? ` "${username}"` : "";
}

function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, " ").trim();
}
