/**
 * A quick look whether a folder is as it was last recorded, by names and stamps alone. It runs in a
 * thread of its own: there, 20,000 files take a fifth of the time that they take in this one. It
 * answers "no" wherever it is not sure, and then the folder is read.
 */
import { constants } from 'node:fs';
import { Worker } from 'node:worker_threads';
import { NO_LINKS } from '../workspaces/index.ts';

export interface Comparison {
  /** The file of `Repository.stamped`. */
  readonly stamps: string;
  /** The point that the file must belong to. */
  readonly number: number;
  readonly folder: string;
}

/**
 * The code of the other thread. It is text, so it needs no file of its own, wherever the relay was
 * built. Names are written as `writtenName` does. As everywhere, each step starts at an open folder
 * and follows no link.
 */
const BESIDE = `
  const fs = require('node:fs');
  const { parentPort } = require('node:worker_threads');
  const hex = (byte) => '%' + byte.toString(16).padStart(2, '0');
  function written(name) {
    const text = name.replace(/[^\\w.+-]/g, (character) => hex(character.charCodeAt(0)));
    const isGits = text === '.' || text === '..' || /^(?:\\.git|git~)/i.test(text);
    return isGits ? hex(name.charCodeAt(0)) + text.slice(1) : text;
  }
  function isSame({ stamps, number, folder, flags, isLinux }) {
    const [head, ...lines] = fs.readFileSync(stamps, 'latin1').split('\\n');
    const about = JSON.parse(head);
    if (about.number !== number || about.count !== lines.length) return false;
    if (about.notRecorded.length > 0 || about.moreNotRecorded > 0) return false;
    const known = new Map();
    for (const line of lines) {
      const [path, kind, mode, , , stamp] = line.split('\\t');
      if (stamp === '' && kind !== 'folder') return false;
      known.set(path, kind + ' ' + mode + ' ' + stamp);
    }
    let seen = 0;
    function walk(fd, own, above) {
      const base = isLinux ? '/proc/self/fd/' + fd + '/' : own + '/';
      for (const name of fs.readdirSync(base, { encoding: 'latin1' })) {
        const place = Buffer.from(base + name, 'latin1');
        const found = fs.lstatSync(place, { bigint: true });
        const isFolder = found.isDirectory();
        const kind = isFolder ? 'folder' : found.isSymbolicLink() ? 'link' : found.isFile() ? 'file' : '';
        const mode = kind === 'link' ? 0 : Number(found.mode & 0o777n);
        const stamp = isFolder ? '' : [found.ino, found.size, found.mtimeNs, found.ctimeNs].join(' ');
        const path = above + written(name);
        if (known.get(path) !== kind + ' ' + mode + ' ' + stamp) return false;
        seen += 1;
        if (!isFolder) continue;
        const inner = fs.openSync(place, flags);
        try {
          if (!walk(inner, place.toString('latin1'), path + '/')) return false;
        } finally {
          fs.closeSync(inner);
        }
      }
      return true;
    }
    const root = fs.openSync(folder, flags);
    try {
      return walk(root, folder, '') && seen === known.size;
    } finally {
      fs.closeSync(root);
    }
  }
  parentPort.on('message', ({ id, comparison }) => {
    let same = false;
    try {
      same = isSame(comparison);
    } catch {}
    parentPort.postMessage({ id, same });
  });
`;

const FLAGS = constants.O_RDONLY | constants.O_DIRECTORY | NO_LINKS;

/** One thread for all folders. It starts with the first look. */
function createBeside() {
  let worker: Worker | null = null;
  let numbered = 0;
  const waiting = new Map<number, (same: boolean) => void>();
  function begin(): Worker {
    const begun = new Worker(BESIDE, { eval: true, execArgv: [] });
    // The thread does not keep the process alive. If it ends, another one starts.
    begun.unref();
    begun.on('message', ({ id, same }: { readonly id: number; readonly same: boolean }) => {
      waiting.get(id)?.(same);
      waiting.delete(id);
    });
    begun.on('error', () => {
      worker = null;
      for (const answer of waiting.values()) answer(false);
      waiting.clear();
    });
    return begun;
  }
  return (comparison: Comparison): Promise<boolean> =>
    new Promise((answer) => {
      worker ??= begin();
      const id = ++numbered;
      waiting.set(id, answer);
      worker.postMessage({ id, comparison: { ...comparison, flags: FLAGS, isLinux: process.platform === 'linux' } });
    });
}

/** True: nothing has changed since. False: something may have. */
export const isUnchanged = createBeside();
