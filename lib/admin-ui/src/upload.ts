// Files that come and go beside fetch: uploads that tell how far they are, downloads by the browser itself.
import { addressOf, ApiError, messageOf, proveSession, readAnswer } from "./api/http.js";
import { say } from "./kit/toast.js";

/** Downloads what a path of the service gives, once the session is known to hold: the browser would keep a refusal as the file. */
export async function download(path: string, name: string): Promise<void> {
  try {
    await proveSession();
  } catch (error) {
    say(messageOf(error), { kind: "wrong" });
    return;
  }
  const anchor = document.createElement("a");
  anchor.href = addressOf(path);
  anchor.download = name;
  anchor.click();
}

/** Sends one large body. Throws ApiError. */
export async function upload(path: string, file: Blob, contentType: string, onProgress: (share: number) => void): Promise<unknown> {
  await proveSession();
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("POST", addressOf(path));
    request.setRequestHeader("Content-Type", contentType);
    request.setRequestHeader("Accept", "application/json");
    request.upload.addEventListener("progress", (event) => { if (event.lengthComputable) onProgress(event.loaded / event.total); });
    request.addEventListener("error", () => reject(new ApiError(0, "The connection was lost, or the service refused a body of this size. Nothing was written.")));
    request.addEventListener("load", () => {
      readAnswer(new Response(request.responseText === "" ? null : request.responseText, { status: request.status })).then((answer) => resolve(answer.data), reject);
    });
    request.send(file);
  });
}
