import { expect } from "chai";
import { reset } from "../../../lib/auth/one-time/kinds.js";
import { composeMail, linkWith } from "../../../lib/auth/one-time/mail.js";

describe("the link of a one-time mail", () => {
  const cases: [string, string][] = [
    ["https://app.test/reset/{token}", "https://app.test/reset/T"],
    ["https://app.test/reset?t={token}#x={token}", "https://app.test/reset?t=T#x=T"],
    ["https://app.test/#/reset/{token}", "https://app.test/#/reset/T"],
    ["https://app.test/reset", "https://app.test/reset?token=T"],
    ["https://app.test", "https://app.test?token=T"],
    ["https://app.test/reset?lang=de", "https://app.test/reset?lang=de&token=T"],
    ["https://app.test/reset?", "https://app.test/reset?token=T"],
    ["https://app.test/reset?lang=de&", "https://app.test/reset?lang=de&token=T"],
    ["https://app.test/reset#form", "https://app.test/reset?token=T#form"],
    ["https://app.test/reset?lang=de#form?x", "https://app.test/reset?lang=de&token=T#form?x"],
    ["https://app.test/#/reset?x=1", "https://app.test/?token=T#/reset?x=1"],
    ["myapp://reset", "myapp://reset?token=T"],
  ];
  for (const [url, link] of cases) it(`T092: makes ${link} of ${url}`, () => expect(linkWith(url, "T")).to.equal(link));

  it("has the tenant's name on one line of the subject, whatever it holds", () => {
    const mail = composeMail(reset, { to: "a@x.test", tenant: "Acme\r\nBcc: b@y.test\u2028", username: "alice", link: "https://app.test/?token=$&" });
    expect(mail.subject).to.equal("Choose a new password for Acme Bcc: b@y.test");
    expect(mail.text).to.include("\nhttps://app.test/?token=$&\n");
  });
});
