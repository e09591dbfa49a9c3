/**
 * Prompt templates. The templates are in CLAUDE.md at the root, each in a fenced block whose info
 * string is `template <name>`. The relay and the page both read them from there.
 *
 * `{{name}}` inserts a value. `{{#if name}} … {{/if}}` omits its content if the value is empty or
 * null, and `{{#unless name}} … {{/unless}}` if it is not. A soul is always inserted as quoted text
 * (quoting.ts), so it cannot end the passage around it. A transcript is quoted already. Any other
 * `{{` is an error, because a misspelt placeholder must not reach an agent.
 */
import type { AgentId } from './ids.ts';
import { applicationText, webhookText } from './applications.ts';
import { alikeOf, sentence } from './names.ts';
import { LEAD_ID, seatNumber } from './seat.ts';
import { withoutDisclaimers } from './demo-words.ts';
import { languageName } from './language-tag.ts';
import { quote } from './quoting.ts';

// The team in one line, for models.

interface Teammate {
  readonly agentId: AgentId;
  readonly name: string;
  readonly position: number | null;
  readonly retired: boolean;
}

/**
 * `Lyra (seat 1), Vega (seat 2)`: every seated agent except the lead and the reader. Null: there is
 * none.
 */
export function teammatesText(team: readonly Teammate[], readerId: string): string | null {
  const others = team.filter(
    ({ agentId, position, retired }) => !retired && position !== null && agentId !== LEAD_ID && agentId !== readerId,
  );
  const inOrder = [...others].sort((a, b) => (a.position ?? 0) - (b.position ?? 0));
  return inOrder.map(({ name, position }) => `${name} (seat ${seatNumber(position ?? 0)})`).join(', ') || null;
}

type Called = Pick<Teammate, 'agentId' | 'name' | 'position'>;

/**
 * `Lyra, seat 1`: the author as headings name it. An application by its name; an unknown author by
 * its id.
 */
export function withSeat(team: readonly Called[], agentId: AgentId): string {
  const one = team.find((member) => member.agentId === agentId);
  if (!one) return applicationText(agentId) ?? webhookText(agentId) ?? agentId;
  return one.position === null ? one.name : `${one.name}, seat ${seatNumber(one.position)}`;
}

/** `Lyra`, or `Lyra (seat 1)` if another agent's name looks the same. */
export function withSeatWhereAlike(team: readonly Called[], agentId: AgentId): string {
  const one = team.find((member) => member.agentId === agentId);
  if (!one) return applicationText(agentId) ?? webhookText(agentId) ?? agentId;
  if (!alikeOf(team).has(agentId)) return one.name;
  return one.position === null ? `${one.name} (id ${agentId})` : `${one.name} (seat ${seatNumber(one.position)})`;
}

type PromptValues = Readonly<Record<string, string | null>>;
export type TemplateName = 'wake' | 'birth' | 'lead' | 'agent' | 'identity' | 'nudge' | 'soul' | 'alone' | 'language';

/** Placeholders that each template may use. */
export const PLACEHOLDERS: Record<TemplateName, readonly string[]> = {
  wake: ['name', 'soul', 'transcript', 'human', 'lead', 'team', 'color', 'colorName', 'seat', 'now', 'slept'],
  birth: ['human', 'lead', 'team', 'color', 'colorName', 'seat', 'now'],
  lead: ['name', 'soul', 'transcript', 'human', 'team', 'now', 'slept', 'can'],
  agent: ['name', 'human', 'lead', 'colorName', 'seat', 'choose_name', 'write_soul', 'can'],
  nudge: ['human', 'lead'],
  soul: ['name', 'human'],
  identity: ['name', 'soul'],
  alone: ['human', 'instructions', 'columns', 'message_human', 'wake_cancel'],
  language: ['human', 'language'],
};

type Node =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'value'; readonly name: string }
  | { readonly kind: 'block'; readonly block: BlockKind; readonly name: string; readonly inside: readonly Node[] };
type BlockKind = 'if' | 'unless';

export type ParsedTemplate =
  | { readonly ok: true; readonly render: (values: PromptValues) => string }
  | { readonly ok: false; readonly reason: string };

const TOKEN = /\{\{(?:([^{}\n]*)\}\})?/g;
const OPENING = /^#(if|unless)\s+/;
const CLOSING = /^\/(if|unless)$/;

/** A block that is still open. The outermost block is the template itself. */
interface OpenBlock {
  readonly block: BlockKind;
  readonly name: string;
  readonly line: number;
  readonly nodes: Node[];
}

/** Checks a template against the placeholders it may use. `reason` names the line. */
export function parseTemplate(template: string, names: readonly string[]): ParsedTemplate {
  const lineAt = (index: number) => template.slice(0, index).split('\n').length;
  const around: OpenBlock[] = [];
  let block: OpenBlock = { block: 'if', name: '', line: 1, nodes: [] };
  let last = 0;
  for (const match of template.matchAll(TOKEN)) {
    const [all, tag] = match;
    const line = lineAt(match.index);
    if (tag === undefined) return { ok: false, reason: sentence`Line ${line}: "{{" without "}}" on the same line` };
    const inside = tag.trim();
    const opens = OPENING.exec(inside)?.[1];
    const closes = CLOSING.exec(inside)?.[1];
    block.nodes.push({ kind: 'text', text: template.slice(last, match.index) });
    last = match.index + all.length;
    // A block tag that is alone on its line also removes the line break.
    const alone = (match.index === 0 || template[match.index - 1] === '\n') && template[last] === '\n';
    if ((opens || closes) && alone) last += 1;
    if (closes) {
      const outer = around.pop();
      if (!outer || block.block !== closes)
        return { ok: false, reason: sentence`Line ${line}: {{/${closes}}} without {{#${closes} …}}` };
      outer.nodes.push({ kind: 'block', block: block.block, name: block.name, inside: block.nodes });
      block = outer;
      continue;
    }
    const name = inside.replace(OPENING, '');
    if (!names.includes(name))
      return {
        ok: false,
        reason: sentence`Line ${line}: unknown placeholder {{${name}}}; known are ${names.join(', ')}`,
      };
    if (opens) {
      around.push(block);
      block = { block: opens === 'if' ? 'if' : 'unless', name, line, nodes: [] };
    } else block.nodes.push({ kind: 'value', name });
  }
  if (around.length > 0)
    return { ok: false, reason: sentence`Line ${block.line}: {{#${block.block} ${block.name}}} is never closed` };
  const nodes: Node[] = [...block.nodes, { kind: 'text', text: template.slice(last) }];
  return { ok: true, render: (values) => renderNodes(nodes, values) };
}

/** Removes the demo's disclaimers, which are true of the demo only. Souls are quoted. */
function putIn(name: string, value: string): string {
  if (name === 'soul') return quote(withoutDisclaimers(value));
  return name === 'transcript' ? withoutDisclaimers(value) : value;
}

function renderNodes(nodes: readonly Node[], values: PromptValues): string {
  let out = '';
  for (const node of nodes) {
    if (node.kind === 'text') out += node.text;
    else if (node.kind === 'value') out += putIn(node.name, values[node.name] ?? '');
    else if (Boolean(values[node.name]) === (node.block === 'if')) out += renderNodes(node.inside, values);
  }
  return out;
}

/** Whether a wake template inserts the soul itself. Then the system prompt does not repeat it. */
export const insertsSoul = (template: string): boolean => /\{\{\s*soul\s*\}\}/.test(template);

/** The latest template of each name. A wake of eight renders the same ones eight times. */
const latest = new Map<TemplateName, { readonly template: string; readonly parsed: ParsedTemplate }>();

function parsedAs(name: TemplateName, template: string): ParsedTemplate {
  const prompt = latest.get(name);
  if (prompt?.template === template) return prompt.parsed;
  const parsed = parseTemplate(template, PLACEHOLDERS[name]);
  latest.set(name, { template, parsed });
  return parsed;
}

/** Renders a template that is known to be valid. Throws with the reason if it is not. */
export function renderTemplate(template: string, name: TemplateName, values: PromptValues): string {
  const parsed = parsedAs(name, template);
  if (!parsed.ok) throw new Error(`The ${name} template is broken. ${parsed.reason}`);
  return parsed.render(values);
}

/** The part of a system prompt that has the soul. Null: there is none. */
export const identityText = (
  { templates }: { readonly templates: Pick<Protocol['templates'], 'identity'> },
  { name, soul }: { readonly name: string; readonly soul: string | null },
): string | null => (soul ? renderTemplate(templates.identity, 'identity', { name, soul }) : null);

export interface Protocol {
  /**
   * The lead's prompt: the document from its first heading on, without the templates and the list
   * of tools.
   */
  readonly document: string;
  readonly templates: Readonly<Record<TemplateName, string>>;
}

/** Text above the first heading is for people. */
const FIRST_HEADING = /^#{1,6} /m;
/** Text from this heading on is for people and for this code. */
const NOT_TOLD = /^## (?:Tools|Templates)$/m;
const FENCE = /^```template (\w+)\n([\s\S]*?)\n```$/gm;

/**
 * Parses CLAUDE.md with either kind of line ending. Throws if a template is missing, duplicate or
 * broken: the relay does not start with an incomplete protocol.
 */
export function parseProtocol(text: string): Protocol {
  const document = text.replaceAll('\r\n', '\n');
  const prompts = new Map<string, string>();
  for (const [, name = '', body = ''] of document.matchAll(FENCE)) {
    if (prompts.has(name)) throw new Error(`CLAUDE.md has the template "${name}" twice`);
    prompts.set(name, body);
  }
  const take = (name: TemplateName): string => {
    const body = prompts.get(name);
    if (body === undefined) throw new Error(`CLAUDE.md has no template "${name}"`);
    const parsed = parseTemplate(body, PLACEHOLDERS[name]);
    if (!parsed.ok) throw new Error(`CLAUDE.md, template "${name}". ${parsed.reason}`);
    return body;
  };
  const all = {
    wake: take('wake'),
    birth: take('birth'),
    lead: take('lead'),
    agent: take('agent'),
    identity: take('identity'),
    nudge: take('nudge'),
    soul: take('soul'),
    alone: take('alone'),
    language: take('language'),
  };
  const start = Math.max(0, document.search(FIRST_HEADING));
  const end = document.search(NOT_TOLD);
  return {
    document: document.slice(start, end < 0 ? undefined : end).trimEnd(),
    templates: all,
  };
}

/**
 * Appends a line to a system prompt that names the language to speak.
 *
 * For English the prompt is unchanged, so that a model's cached prompt stays valid. A name or a
 * soul cannot imitate this line: names are inserted within lines, and agents' texts are quoted.
 * @param language of the page, BCP 47; left out: English
 */
export function inLanguage(
  system: string,
  { templates }: Pick<Protocol, 'templates'>,
  human: string,
  language: string | undefined,
): string {
  const name = language === undefined ? null : languageName(language);
  return name === null
    ? system
    : `${system.trimEnd()}\n\n${renderTemplate(templates.language, 'language', { human, language: name })}`;
}

const SAID = /\n\nThe page of [^\n]+ is in ([^\n:]+): speak [^\n]+$/;
/** The language that the last line of a system prompt names. Null: English. */
export const languageOf = (system: string): string | null => SAID.exec(system)?.[1] ?? null;
