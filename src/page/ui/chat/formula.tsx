/**
 * A formula set as MathML, which every browser draws by itself. It is inert: no links, no pictures,
 * no classes and no names of its own, and it stays within its line. Only a message with a formula
 * fetches this.
 */
import { useMemo } from 'react';
import temml from 'temml';
import { errorMessage } from '../../../shared/domain/platform/error-message.ts';
import 'temml/dist/Temml-Local.css';
import { t } from '../../language/t.ts';
import { AsWritten } from './formula-as-written.tsx';
import type { Formula as FormulaText } from './parser.ts';

/**
 * Characters of one formula; steps in which its abbreviations are written out; em that it may ask
 * for.
 */
const MOST = { chars: 4_000, expand: 500, em: 40 } as const;
/** What makes abbreviations: a few of them can write out more than anybody could read. */
const DEFINES = /\\(?:[gex]?def|let|futurelet|global|(?:re)?newcommand|providecommand)(?![a-zA-Z])/;

/** Throws where it is no formula. */
function draw({ tex, apart }: FormulaText): Node {
  if (tex.length > MOST.chars) throw new Error('it is too long');
  if (DEFINES.test(tex)) throw new Error('it makes abbreviations of its own');
  const into = document.createElement('span');
  temml.render(tex, into, {
    displayMode: apart,
    throwOnError: true,
    trust: false,
    strict: false,
    maxExpand: MOST.expand,
    maxSize: [MOST.em, MOST.em],
    ...(apart ? {} : { wrap: 'tex' as const }),
  });
  // A label would be an address in the page.
  for (const named of into.querySelectorAll('[id]')) named.removeAttribute('id');
  const math = into.firstChild;
  if (!math) throw new Error('there is nothing in it');
  return math;
}

function drawnOf(formula: FormulaText): { readonly math: Node } | { readonly problem: string } {
  try {
    return { math: draw(formula) };
  } catch (error) {
    return { problem: t`This formula cannot be set: ${errorMessage(error)}` };
  }
}

export default function Formula({ tex, apart }: FormulaText) {
  const drawn = useMemo(() => drawnOf({ tex, apart }), [tex, apart]);
  if ('problem' in drawn) return <AsWritten tex={tex} apart={apart} problem={drawn.problem} />;
  const place = (into: HTMLSpanElement | null) => into?.replaceChildren(drawn.math.cloneNode(true));
  return apart ? (
    // Scrolls by itself where it is too wide, by keyboard too.
    // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex
    <span className="md-maths" data-apart role="region" aria-label={t`Formula`} tabIndex={0} ref={place} dir="ltr" />
  ) : (
    <span className="md-maths" ref={place} dir="ltr" />
  );
}
