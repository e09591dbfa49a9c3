/** A folder as a zip that is made while it is sent. */
import { Zip, ZipDeflate } from 'fflate';
import { WorkspaceError, type Workspace } from './index.ts';
import { WORKSPACE_LIMITS } from './settings.ts';

const CHUNK = 256 * 1024;

/** A file, piece by piece, as long as it was at first: one that grows meanwhile has an end all the same. What cannot be read any more ends it. */
export async function* piecesOf(
  workspace: Pick<Workspace, 'read'>,
  path: string,
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  let end = Infinity;
  for (let at = 0; at < end; at += CHUNK) {
    const piece = await workspace
      .read(path, async (handle, bytes) => {
        end = Math.min(end, bytes);
        const buffer = new Uint8Array(Math.max(0, Math.min(CHUNK, end - at)));
        const { bytesRead } = await handle.read(buffer, 0, buffer.length, at);
        return buffer.subarray(0, bytesRead);
      })
      .catch((error: unknown) => {
        if (error instanceof WorkspaceError) return new Uint8Array();
        throw error;
      });
    yield piece;
    if (piece.length < CHUNK) return;
  }
}

/** Each chunk is read when the one before was taken. What cannot be read any more is left out. */
export async function* zipOf(workspace: Workspace, path: string): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const ready: Uint8Array<ArrayBuffer>[] = [];
  let failed: Error | null = null;
  const zip = new Zip((error, chunk) => {
    if (error) failed = error;
    else ready.push(chunk);
  });
  function* taken(): Generator<Uint8Array<ArrayBuffer>> {
    if (failed) throw failed;
    yield* ready.splice(0);
  }
  const above = path === '' ? 0 : path.replace(/\/+$/, '').lastIndexOf('/') + 1;
  for await (const entry of workspace.walk(path, WORKSPACE_LIMITS.entries)) {
    if (entry.kind !== 'file') continue;
    const file = new ZipDeflate(entry.path.slice(above), { level: 6 });
    file.mtime = entry.changedAt;
    zip.add(file);
    for await (const piece of piecesOf(workspace, entry.path)) {
      file.push(piece);
      yield* taken();
    }
    file.push(new Uint8Array(), true);
    yield* taken();
  }
  zip.end();
  yield* taken();
}
