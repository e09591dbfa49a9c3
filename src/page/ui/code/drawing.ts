/**
 * Renders Mermaid texts. It needs no page, so it can run in a worker that is terminated whatever it
 * was given.
 */
import { Parser } from 'htmlparser2';
import { renderMermaidSVG } from 'beautiful-mermaid';
import { t } from '../../language/t.ts';

// Reduces a drawing to shapes and text. The result has no scripts, links or external resources,
// wherever it is opened.

const SHAPES = new Set(
  'svg g defs marker style title desc path line polyline polygon rect circle ellipse text tspan'.split(' '),
);
const NAMED = new Set(
  (
    'xmlns class id style d x y x1 x2 y1 y2 cx cy r rx ry dx dy width height points transform viewBox opacity orient refX refY ' +
    'markerWidth markerHeight markerUnits preserveAspectRatio'
  ).split(' '),
);
/** `fill`, `fill-opacity`, `font-size`, `marker-end` and the like. */
const STYLED = /^(?:fill|stroke|(?:fill|stroke|font|text|marker|dominant|alignment|letter|paint)-[a-z-]+)$/;
/**
 * What a style must not contain: URLs other than references within the drawing, or anything else
 * external.
 */
const REACHES_OUT = /@import|url\s*\(\s*(?!#)|image-set|\bsrc\s*\(|\\/i;

const escaped = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
const IMPORT = /@import[^\n]*/gi;

/**
 * @param svg an `svg` element as text. Elements that are no shapes are dropped with their content.
 */
export function inertSvg(svg: string): string {
  const out: string[] = [];
  const open: string[] = [];
  let skipped = 0;
  let style = '';
  const parser = new Parser(
    {
      onopentag(name, attributes) {
        if (skipped > 0 || !SHAPES.has(name)) {
          skipped += 1;
          return;
        }
        const kept = Object.entries(attributes).flatMap(([key, value]) => {
          const styled = STYLED.test(key);
          if (!styled && !NAMED.has(key)) return [];
          if (key === 'xmlns' || !REACHES_OUT.test(value)) return [[key, value] as const];
          // Without it, a shape would be black and hide its text.
          return styled ? [[key, 'none'] as const] : [];
        });
        open.push(name);
        out.push(`<${name}${kept.map(([key, value]) => ` ${key}="${escaped(value)}"`).join('')}>`);
      },
      ontext(text) {
        if (skipped > 0) return;
        // Styles arrive in pieces and are checked as a whole.
        if (open.at(-1) === 'style') style += text;
        else out.push(escaped(text));
      },
      onclosetag(name) {
        if (skipped > 0) skipped -= 1;
        else {
          open.pop();
          const kept = style.replace(IMPORT, '');
          if (!REACHES_OUT.test(kept)) out.push(escaped(kept));
          style = '';
          out.push(`</${name}>`);
        }
      },
    },
    { xmlMode: true, decodeEntities: true },
  );
  parser.end(svg);
  return out.join('');
}

/** Characters of a text, and of its drawing; px of a side. */
const MOST = { chars: 20_000, svg: 1_000_000, px: 16_000 } as const;

export interface DrawingColours {
  readonly paper: string;
  readonly ink: string;
}
/** `width` and `height` in px. `problem`: why there is none, for people. */
export type Drawn =
  | { readonly svg: string; readonly width: number; readonly height: number }
  | { readonly problem: string };

const KNOWN =
  /^(?:graph|flowchart|statediagram(?:-v2)?|sequencediagram|classdiagram(?:-v2)?|erdiagram|xychart(?:-beta)?)\b/i;
const KINDS = t`flowcharts, states, sequences, classes, entities, and charts with bars or lines`;

const SPLITS_AT_SEMICOLONS = /^(?:graph|flowchart|statediagram)/i;
const CLOSED_BY: Readonly<Record<string, string>> = { '[': ']', '(': ')', '{': '}', '"': '"', '|': '|' };

/**
 * Splits a line into statements, which may end with `;`. A semicolon in a name, in quotes or in a
 * code such as `#59;` ends none.
 */
function statementsIn(line: string): string[] {
  const statements: string[] = [];
  const open: string[] = [];
  let statement = '';
  for (const sign of line) {
    if (sign === open.at(-1)) open.pop();
    else if (CLOSED_BY[sign] !== undefined && open.at(-1) !== '"') open.push(CLOSED_BY[sign]);
    if (sign === ';' && open.length === 0 && !/#\w+$/.test(statement)) {
      statements.push(statement);
      statement = '';
    } else statement += sign;
  }
  return [...statements, statement];
}

/**
 * Names and labels, within which nothing is an arrow; otherwise an arrow, or the half of a labelled
 * one.
 */
const NAMED_OR_ARROW =
  /"[^"]*"|\[[^\]]*\]|\([^)]*\)|\{[^}]*\}|\|[^|]*\||(?<arrow><?(?:-\.+->?|\.+->|-\.|-{2,}|={2,})[>]?)(?<head>[xo]\s)?/g;

/**
 * Puts spaces around arrows and keeps only supported heads. The renderer misreads `A-->B` and
 * others.
 */
const withSpace = (statement: string) =>
  statement
    .replace(NAMED_OR_ARROW, (whole: string, ...rest: unknown[]) => {
      const { arrow, head } = rest.at(-1) as Readonly<Record<string, string | undefined>>;
      return arrow === undefined ? whole : ` ${arrow}${head === undefined ? '' : '>'} `;
    })
    // A label in bars follows its arrow directly.
    .replace(/([->=]) +(?=\|)/g, '$1');

/**
 * One statement per line, as the renderer requires. Mermaid itself also accepts `graph TD; A-->B;`.
 */
function inLines(text: string): string {
  const [header = ''] = text.split('\n');
  const lines = text.split('\n').map((line) => line.trimEnd());
  const all = SPLITS_AT_SEMICOLONS.test(header)
    ? lines.flatMap(statementsIn).map(/^s/i.test(header) ? String : withSpace)
    : lines.map((line) => line.replace(/;$/, ''));
  return all.join('\n').replace(/^(graph|flowchart)[ \t]*$/im, '$1 TD');
}

/** Drops the front matter and directives about looks, and the actions on a click. */
function drawable(code: string): string {
  const bare = code.replace(/^\s*---\n[^]*?\n---[ \t]*(?:\n|$)/, '').replace(/%%\{[^]*?\}%%/g, '');
  const isSequence = /^\s*sequenceDiagram/im.test(bare);
  const isNone = isSequence ? /^\s*(?:%%|links?\s|acc(?:Title|Descr)\b)/ : /^\s*(?:%%|click\s|acc(?:Title|Descr)\b)/;
  const lines = bare.split('\n').filter((line) => !isNone.test(line));
  return inLines(lines.join('\n').trim());
}

/** @param code the text of a code block; any text. */
export function drawn(code: string, { paper, ink }: DrawingColours): Drawn {
  if (code.length > MOST.chars) return { problem: t`The diagram is too large.` };
  const text = drawable(code);
  if (text === '') return { problem: t`The diagram is empty.` };
  const [kind = ''] = /^\S{0,40}/.exec(text) ?? [];
  if (!KNOWN.test(text)) return { problem: t`Roost draws ${KINDS}, but not “${kind}”.` };
  let svg: string;
  try {
    svg = renderMermaidSVG(text, { bg: paper, fg: ink, font: 'system-ui', padding: 24 });
  } catch {
    return { problem: t`The diagram has a mistake.` };
  }
  const [, width, height] = (/^<svg [^>]*?width="([\d.]+)" height="([\d.]+)"/.exec(svg) ?? []).map(Number);
  if (width === undefined || height === undefined || width === 0 || height === 0)
    return { problem: t`The diagram is empty.` };
  if (svg.length > MOST.svg || Math.max(width, height) > MOST.px) return { problem: t`The diagram is too large.` };
  return { svg: inertSvg(svg), width, height };
}
