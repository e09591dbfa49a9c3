/** What somebody may be called, from a soul that was written by hand. */
import { LIMITS } from '../../protocol/limits.ts';

/** Names of files and folders that say what is in them, not who. */
const NO_NAMES = /^(soul|agent|agents|new folder|untitled folder|archive|download|downloads)$/i;

/** The first heading, else `name:` in the front matter, else the name of the folder; null: none of them says. */
export function guessName(soul: string, folder: string | null): string | null {
  return headingOf(soul) ?? frontMatterName(soul) ?? nameFrom(folder ?? '');
}

function headingOf(soul: string): string | null {
  let fence: string | null = null;
  for (const line of withoutFrontMatter(soul).split('\n')) {
    const mark = /^ {0,3}(```|~~~)/.exec(line)?.[1];
    if (mark && (fence === null || fence === mark)) fence = fence === null ? mark : null;
    if (fence !== null) continue;
    const heading = /^ {0,3}#{1,6}[ \t]+(.*?)[ \t]*#*[ \t]*$/.exec(line)?.[1];
    if (heading !== undefined) return nameFrom(heading);
  }
  return null;
}

const FRONT_MATTER = /^---[ \t]*\n([\s\S]*?)\n---[ \t]*(?:\n|$)/;
const withoutFrontMatter = (soul: string) => soul.replace(FRONT_MATTER, '');

function frontMatterName(soul: string): string | null {
  const value = /^name:[ \t]*(.*)$/im.exec(FRONT_MATTER.exec(soul)?.[1] ?? '')?.[1];
  return value === undefined ? null : nameFrom(value.trim().replace(/^(["'])(.*)\1$/, '$2'));
}

/** Without the marks of Markdown; null where nothing is left, or where it says only what the text is. */
function nameFrom(text: string): string | null {
  const plain = text
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/[*_`~]/g, '')
    .replace(/\s+/g, ' ')
    .trim()
    .slice(0, LIMITS.name)
    .trim();
  return plain === '' || NO_NAMES.test(plain) ? null : plain;
}
