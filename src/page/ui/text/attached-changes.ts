/**
 * What an MCP server would do, in words and whole: what is started or called, how it is held, and
 * what agents use of it. Pure.
 */
import { shownText } from '../../../shared/domain/names.ts';
import { t } from '../../language/t.ts';
import type { AttachedRecord, Box } from '../../../shared/protocol/attached.ts';
import type { ArchiveChange } from '../../state/agent-copies.ts';
import { names, plural } from './sizes.ts';
import { revealedLine } from './unseen.ts';

type AttachedChange = Extract<ArchiveChange, { kind: 'attached' }>;

/** What a program sees in the sandbox. */
export function shownBox({ folder, reads, network }: Box): string {
  const reached = network === 'none' ? t`no network` : network === 'all' ? t`all that is public` : network.join(', ');
  return [
    folder === null ? t`no folder` : folder,
    ...(reads.length === 0 ? [] : [t`reads ${reads.join(', ')}`]),
    reached,
  ].join(' · ');
}

/** A word of a command by itself: what a shell would take apart stands in quotes. */
const word = (text: string) => (/^[\w@%+=:,./-]+$/.test(text) ? text : JSON.stringify(text));

/** The command or the address, as it would be started or called. */
export const whereText = (where: NonNullable<AttachedRecord['where']>): string =>
  revealedLine(where.kind === 'address' ? where.url : [where.command, ...where.args].map(word).join(' '));

const usedOf = ({ tools }: AttachedRecord) =>
  Object.entries(tools).flatMap(([tool, { use }]) => (use ? [shownText(tool)] : []));

export function attachedText({ after }: AttachedChange): string {
  const { where } = after;
  const what = t`The MCP server “${shownText(after.name)}”`;
  if (after.removed || where === null) return t`${what} would be removed.`;
  const used = usedOf(after);
  const tools = used.length === 0 ? '' : ` ${t`Agents could use ${names(used)}.`}`;
  if (where.kind === 'address') return `${t`${what} would be called at ${whereText(where)}.`}${tools}`;
  return where.box === null
    ? `${t`${what} would run on the relay’s machine, free, as whoever started the relay: ${whereText(where)}.`}${tools}`
    : `${t`${what} would run on the relay’s machine, in the sandbox: ${whereText(where)}.`}${tools}`;
}

/** Everything that it says, each part under its name. */
function partsOf(record: AttachedRecord | null): string {
  if (!record?.where || record.removed) return '';
  const { name, where, secrets, agents } = record;
  const parts: [string, string][] =
    where.kind === 'address'
      ? [[t`address`, revealedLine(where.url)]]
      : [
          [t`program`, revealedLine(where.command)],
          ...where.args.map((arg): [string, string] => [t`argument`, revealedLine(arg)]),
          [
            t`held`,
            where.box === null ? t`not at all: it runs free` : t`in the sandbox: ${revealedLine(shownBox(where.box))}`,
          ],
        ];
  return [
    [t`name`, shownText(name)],
    ...parts,
    [t`given in confidence`, secrets.length === 0 ? t`nothing` : secrets.map(shownText).join(', ')],
    [t`used by`, agents === null ? t`everybody` : plural(agents.length, 'agent')],
    [t`tools`, usedOf(record).join(', ') || t`none`],
  ]
    .map(([part, value]) => `${part}: ${value}`)
    .join('\n');
}

export const attachedDetails = ({
  here,
  after,
}: AttachedChange): { readonly before: string; readonly after: string } => ({
  before: partsOf(here),
  after: partsOf(after),
});
