// The standalone server: everything that it is told comes from the environment (docs/deployment.md).
import { OptionsError, serve } from "records-service";

const starting = serve(process.env, (line) => console.log(line));

// A signal may come before the server answers.
let ending = false;
for (const signal of ["SIGTERM", "SIGINT"] as const) {
  process.on(signal, () => {
    // A second signal is meant: what is still under way is given up.
    if (ending) process.exit(1);
    ending = true;
    void starting.then((server) => server.close()).then(() => process.exit(0), () => process.exit(1));
  });
}

await starting.catch((error: unknown) => {
  console.error(error instanceof OptionsError ? error.message : `records-service could not start: ${error instanceof Error ? error.message : String(error)}`);
  process.exit(1);
});
