/** What the palette lists: every command, and every setting by its name. Pure. */
import { GROUPS, type Around, type Command } from '../commands/command.ts';
import { allSeatCommands } from '../commands/seat.ts';
import { commandsOf } from '../commands/table.ts';
import { PATHS } from '../routes.ts';
import { NAMED_SETTINGS, SECTIONS } from '../settings/named.ts';

/** As the palette has them. */
const ORDER = Object.keys(GROUPS);

/** Opens what is open already. */
const NOT_HERE: readonly string[] = ['find', 'find said', 'back'];

export const listed = (around: Around): readonly Command[] => [
  ...[...commandsOf(around), ...allSeatCommands(around)].filter(
    ({ id, disabled = false }) => !disabled && !NOT_HERE.includes(id),
  ),
  ...NAMED_SETTINGS.map(({ section, name, words }): Command => ({
    id: `setting ${section} ${name}`,
    group: 'settings',
    label: name,
    hint: SECTIONS[section].title,
    whenTyped: true,
    ...(words === undefined ? {} : { words }),
    run: () => around.go(PATHS.settings(section, name)),
  })),
];

const plain = (text: string) => text.normalize('NFD').replaceAll(/\p{M}/gu, '').toLowerCase();
const wordsOf = (text: string) => plain(text).split(/[^\p{L}\p{N}]+/u);

/**
 * How well it fits: 0 not at all; beginnings of the label count most, then of its words, then of
 * what it is also called.
 */
function fit({ label, hint = '', words = '' }: Command, asked: readonly string[]): number {
  const name = plain(label);
  let sum = 0;
  for (const each of asked) {
    const begins = (word: string) => word.startsWith(each);
    const points = begins(name)
      ? 8
      : wordsOf(label).some(begins)
        ? 4
        : wordsOf(`${hint} ${words}`).some(begins)
          ? 1
          : 0;
    if (points === 0) return 0;
    sum += points;
  }
  return sum;
}

/**
 * Those that fit what is typed, best first; with nothing typed, those that were used last, and then
 * all in the table's order.
 */
export function found(commands: readonly Command[], typed: string, recent: readonly string[]): readonly Command[] {
  const asked = wordsOf(typed).filter((word) => word !== '');
  const age = ({ id }: Command) => (recent.includes(id) ? recent.indexOf(id) : recent.length);
  const sign = plain(typed.trim());
  // An emoji is no word, and still something to look for.
  if (asked.length === 0 && sign !== '') return commands.filter(({ label }) => plain(label).includes(sign));
  if (asked.length === 0)
    return commands
      .filter(({ id, whenTyped = false }) => !whenTyped || recent.includes(id))
      .toSorted((a, b) => age(a) - age(b));
  return commands
    .map((command) => ({ command, points: fit(command, asked) }))
    .filter(({ points }) => points > 0)
    .toSorted(
      (a, b) =>
        b.points - a.points ||
        age(a.command) - age(b.command) ||
        ORDER.indexOf(a.command.group) - ORDER.indexOf(b.command.group),
    )
    .map(({ command }) => command);
}
