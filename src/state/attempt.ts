/** How something that was asked for went. */
export type Done = { readonly ok: true } | { readonly ok: false; readonly reason: string };
export const DONE: Done = { ok: true };

/** A call of the owner, whose failure the person is told of. */
export async function attempt(work: Promise<unknown>): Promise<Done> {
  try {
    await work;
    return DONE;
  } catch (error) {
    return { ok: false, reason: error instanceof Error ? error.message : String(error) };
  }
}
