/**
 * A drawing with nothing in it but shapes and words: nothing that could run, lead anywhere or be
 * fetched, wherever it is opened.
 */
import { Parser } from 'htmlparser2';

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
 * What may stand in a style: no address but of something in the drawing itself, nothing from
 * elsewhere.
 */
const REACHES_OUT = /@import|url\s*\(\s*(?!#)|image-set|\bsrc\s*\(|\\/i;

const escaped = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
const IMPORT = /@import[^\n]*/gi;

/** @param svg an `svg` element as text. What is no shape is left out with all that is in it. */
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
          // Without it, a shape would be black, and hide its words.
          return styled ? [[key, 'none'] as const] : [];
        });
        open.push(name);
        out.push(`<${name}${kept.map(([key, value]) => ` ${key}="${escaped(value)}"`).join('')}>`);
      },
      ontext(text) {
        if (skipped > 0) return;
        // Comes in pieces: a style is judged whole.
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
