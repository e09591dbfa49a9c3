/** Unpacks gzip, and tells a file that ends too early from one that is damaged. */
import { chunksOf } from '../../domain/platform/old-browsers.ts';
import { ArchiveError, CUT_SHORT, DAMAGED } from '../problem.ts';

/** Chunks of gzip in, chunks of what was packed out. Errors of `source` pass through; its own are `ArchiveError`s. */
export async function* gunzipped(source: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
  const stream = new DecompressionStream('gzip');
  // The platform's bytes are typed as possibly shared; these never are.
  const writer: WritableStreamDefaultWriter<Uint8Array<ArrayBuffer>> = stream.writable.getWriter();
  let failure: unknown = null;

  async function feed(): Promise<void> {
    let isEnded = false;
    try {
      for (;;) {
        const next = await source.next().catch((error: unknown) => {
          failure = error;
          throw error;
        });
        if (next.done) break;
        await writer.write(new Uint8Array(next.value));
      }
      isEnded = true;
      await writer.close();
    } catch (error) {
      failure ??= faultOf(error, isEnded);
      // So that the other end stops waiting; a stream that failed by itself has nothing to add.
      await writer.abort(error).catch(() => undefined);
    }
  }

  const fed = feed();
  try {
    yield* chunksOf(stream.readable);
  } catch (error) {
    await fed;
    throw failure ?? faultOf(error, false);
  } finally {
    await source.return?.();
  }
  await fed;
  if (failure !== null) throw failure;
}

/** Only Node says which it is; elsewhere a fault shows while bytes come, and a missing end when they are over. */
function faultOf(error: unknown, isEnded: boolean): ArchiveError {
  const code = error instanceof Error && 'code' in error ? error.code : null;
  const isCut = code === 'Z_BUF_ERROR' || (isEnded && code === null);
  return isCut
    ? new ArchiveError('cut-short', CUT_SHORT, { cause: error })
    : new ArchiveError('damaged', DAMAGED, { cause: error });
}
