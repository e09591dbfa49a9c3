/**
 * An answer that may take many minutes. Clients give up where they hear nothing for long: the
 * `fetch` of Node after 300 s without a head, or without a further piece of the body. So a slow
 * answer begins early, and spaces that JSON ignores come before its value.
 */

/** ms after which it begins, and between two spaces. */
const HEARD_EVERY_MS = 60_000;
const encoder = new TextEncoder();

/** The value itself where it is there in time. A later failure breaks the answer off. */
export async function slowAnswer<Value extends object>(
  work: Promise<Value>,
  everyMs = HEARD_EVERY_MS,
): Promise<Value | Response> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<null>((done) => (timer = setTimeout(() => done(null), everyMs)));
  const value = await Promise.race([work, late]).finally(() => clearTimeout(timer));
  if (value !== null) return value;
  let beat: NodeJS.Timeout | undefined;
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      const space = () => controller.enqueue(encoder.encode(' '));
      space();
      beat = setInterval(space, everyMs);
      void work
        .then(
          (done) => {
            controller.enqueue(encoder.encode(JSON.stringify(done)));
            controller.close();
          },
          (error: unknown) => controller.error(error),
        )
        // The client has gone.
        .catch(() => undefined)
        .finally(() => clearInterval(beat));
    },
    cancel: () => clearInterval(beat),
  });
  return new Response(body, { headers: { 'content-type': 'application/json' } });
}
