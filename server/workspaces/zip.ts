/** A folder as a zip that is made while it is sent. */
import { Zip, ZipDeflate } from 'fflate';
import { WorkspaceError, type Workspace } from './index.ts';
import { WORKSPACE_LIMITS } from './settings.ts';

const CHUNK = 256 * 1024;

/** A file, piece by piece, as long as it was at first: one that grows meanwhile has an end all the same. One that is there no more is empty. */
export async function* piecesOf(
  workspace: Pick<Workspace, 'open'>,
  path: string,
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const opened = await workspace.open(path).catch((error: unknown) => {
    if (error instanceof WorkspaceError) return null;
    throw error;
  });
  if (!opened) return;
  const { file, bytes } = opened;
  try {
    for (let at = 0; at < bytes;) {
      const buffer = new Uint8Array(Math.min(CHUNK, bytes - at));
      const { bytesRead } = await file.read(buffer, 0, buffer.length, at);
      if (bytesRead === 0) return;
      at += bytesRead;
      yield buffer.subarray(0, bytesRead);
    }
  } finally {
    await file.close();
  }
}

/** In a zip a backslash parts folders where it is unpacked by Windows, and a colon follows a drive: a name would lead out of where it is unpacked. */
const nameIn = (path: string): string => path.replaceAll('\\', '_').replace(/^([A-Za-z]):/, '$1_');

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
    const file = new ZipDeflate(nameIn(entry.path.slice(above)), { level: 6 });
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
