/** Draws a text in Mermaid’s language. Works without a page: beside it, where it can be ended whatever it is given. */
import { renderMermaidSVG } from 'beautiful-mermaid';
import { t } from '../../language/t.ts';
import { inertSvg } from './inert-svg.ts';

/** Characters of a text, and of its drawing; px of a side. */
const MOST = { chars: 20_000, svg: 1_000_000, px: 16_000 } as const;

export interface DrawingColours {
  readonly paper: string;
  readonly ink: string;
}
/** `width` and `height` in px. `problem`: why there is none, in words for the person. */
export type Drawn =
  | { readonly svg: string; readonly width: number; readonly height: number }
  | { readonly problem: string };

const KNOWN =
  /^(?:graph|flowchart|statediagram(?:-v2)?|sequencediagram|classdiagram(?:-v2)?|erdiagram|xychart(?:-beta)?)\b/i;
const KINDS = t`flowcharts, states, sequences, classes, entities, and charts with bars or lines`;

/** Without what stands before it and is about its looks, and without what a press on a part of it should do. */
function drawable(code: string): string {
  const bare = code.replace(/^\s*---\n[^]*?\n---[ \t]*(?:\n|$)/, '').replace(/%%\{[^]*?\}%%/g, '');
  const isSequence = /^\s*sequenceDiagram/im.test(bare);
  const isNone = isSequence ? /^\s*(?:%%|links?\s|acc(?:Title|Descr)\b)/ : /^\s*(?:%%|click\s|acc(?:Title|Descr)\b)/;
  return bare
    .split('\n')
    .filter((line) => !isNone.test(line))
    .join('\n')
    .trim();
}

/** @param code as it stands in a block of code; any text. */
export function drawn(code: string, { paper, ink }: DrawingColours): Drawn {
  if (code.length > MOST.chars) return { problem: t`It is too long to be drawn.` };
  const text = drawable(code);
  if (text === '') return { problem: t`There is nothing in it to draw.` };
  const [kind = ''] = /^\S{0,40}/.exec(text) ?? [];
  if (!KNOWN.test(text)) return { problem: t`Roost draws ${KINDS}; not what begins with “${kind}”.` };
  let svg: string;
  try {
    svg = renderMermaidSVG(text, { bg: paper, fg: ink, font: 'system-ui', padding: 24 });
  } catch {
    return { problem: t`There is a mistake in its text: it cannot be drawn.` };
  }
  const [, width, height] = (/^<svg [^>]*?width="([\d.]+)" height="([\d.]+)"/.exec(svg) ?? []).map(Number);
  if (width === undefined || height === undefined || width === 0 || height === 0)
    return { problem: t`There is nothing in it to draw.` };
  if (svg.length > MOST.svg || Math.max(width, height) > MOST.px) return { problem: t`It is too large to be shown.` };
  return { svg: inertSvg(svg), width, height };
}
