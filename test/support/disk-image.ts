/**
 * A disk of its own in a file, for what happens to a home when the plug is pulled. What a program
 * has written but not flushed is in memory only; the file has what the disk would have. So a copy
 * of the file is the disk after a power cut. Only root may mount one.
 */
import { execFile } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const IMAGE_MB = 96;
/** ms for any of the commands below; a busy machine is not a failure. */
const PATIENCE_MS = 60_000;

const call = (command: string, ...args: readonly string[]) => run(command, [...args], { timeout: PATIENCE_MS });

export interface DiskImage {
  /** Where it is mounted. */
  readonly folder: string;
  /** Everything that was written is flushed. */
  sync(): Promise<void>;
  /**
   * The disk as it would be if the power went now. Whoever writes to it should be held still
   * meanwhile.
   */
  cut(): Promise<DiskImage>;
  remove(): Promise<void>;
}

async function mounted(place: string, image: string): Promise<DiskImage> {
  const folder = join(place, 'disk');
  await mkdir(folder, { recursive: true });
  // Nothing is written by itself for a while: only what is flushed survives.
  await call('mount', '-o', 'loop,commit=300', image, folder);
  return {
    folder,
    sync: async () => void (await call('sync', '-f', folder)),
    async cut() {
      const other = await mkdtemp(join(tmpdir(), 'roost-power-'));
      await copyFile(image, join(other, 'image'));
      return mounted(other, join(other, 'image'));
    },
    async remove() {
      await call('umount', folder);
      await rm(place, { recursive: true, force: true });
    },
  };
}

/** An empty disk. */
export async function createDiskImage(): Promise<DiskImage> {
  const place = await mkdtemp(join(tmpdir(), 'roost-power-'));
  const image = join(place, 'image');
  await call('truncate', '-s', `${IMAGE_MB}M`, image);
  await call('mkfs.ext4', '-q', image);
  return mounted(place, image);
}

/** A small disk in memory, to be filled. */
export async function createSmallDisk(
  megabytes: number,
): Promise<{ readonly folder: string; remove(): Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'roost-small-'));
  await call('mount', '-t', 'tmpfs', '-o', `size=${megabytes}m`, 'none', folder);
  return {
    folder,
    async remove() {
      await call('umount', folder);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Whether this process may mount; in some containers not even root may. */
export async function mayMount(): Promise<boolean> {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return false;
  try {
    const image = await createDiskImage();
    await image.remove();
    return true;
  } catch {
    return false;
  }
}
