/** Words by which a text of the page reads like a translation. Their number may only go down. */
import { describe, expect, it } from 'vitest';
import { textsOfPage } from '../../support/texts.ts';

const WORDS = /\b(?:stands?|lies|whoever|of (?:its|their|your) own|anew|by itself|any more|goes on|holds?)\b/i;

/**
 * Texts with such a word, by folder of the page. Lower a number with each text that you reword. A
 * folder that is not listed has none.
 */
const TODAY: Readonly<Record<string, number>> = {
  'src/page/ui/agent': 3,
  'src/page/ui/mcp': 2,
  'src/page/ui/attachments': 1,
  'src/page/ui/approvals': 2,
  'src/page/ui/changes': 2,
  'src/page/ui/chat': 12,
  'src/page/ui/clients': 2,
  'src/page/ui/commands': 1,
  'src/page/ui/exports': 5,
  'src/page/ui/costs': 3,
  'src/page/ui/devices': 12,
  'src/page/ui/files': 1,
  'src/page/ui/grid': 2,
  'src/page/ui/notifications': 2,
  'src/page/ui/palette': 3,
  'src/page/ui/portrait': 3,
  'src/page/ui/programs': 3,
  'src/page/ui/projects': 9,
  'src/page/ui/records': 1,
  'src/page/ui/schedule': 5,
  'src/page/ui/shell': 3,
  'src/page/ui/storage': 1,
  'src/page/ui/text': 6,
  'src/page/ui/threads': 2,
  'src/page/ui/webhooks': 2,
  'src/page/ui/welcome': 7,
  'src/page/state': 6,
  'src/page/exports': 3,
  'src/shared': 3,
  'src/worker': 7,
  'server/agents': 3,
  'server/approvals': 3,
  'server/mcp': 1,
  'server/households': 2,
  'server/schedules': 3,
  'server/tools': 10,
};

const folderOf = (at: string) => /^(?:src\/page\/(?:ui\/)?[^/:]+|[^/]+\/[^/:]+)/.exec(at)?.[0] ?? at;

function countedByFolder(): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const { key, at } of textsOfPage().marked) {
    if (!WORDS.test(key)) continue;
    const folder = folderOf(at);
    counts[folder] = (counts[folder] ?? 0) + 1;
  }
  return counts;
}

describe('Texts of the page', () => {
  it('finds the words in a text', () => {
    const texts = ['What stands here', 'Whoever serves it', 'It goes on', 'A name of its own', 'It holds at once'];
    expect(texts.filter((text) => !WORDS.test(text))).toEqual([]);
    expect(WORDS.test('A standard household on its own')).toBe(false);
  });

  it('have no more of these words in any folder than the list says', () => {
    const counts = Object.entries(countedByFolder());
    expect(counts.filter(([folder, count]) => count > (TODAY[folder] ?? 0))).toEqual([]);
  });
});
