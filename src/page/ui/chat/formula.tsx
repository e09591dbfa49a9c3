/**
 * Renders a formula as MathML, which every browser draws natively. The result is inert: it has no
 * links, pictures, classes or ids, and stays within its line. This module is loaded with the first
 * formula.
 */
import { useMemo } from 'react';
import temml from 'temml';
import { errorMessage } from '../../../shared/domain/platform/error-message.ts';
import 'temml/dist/Temml-Local.css';
import { t } from '../../language/t.ts';
import { AsWritten } from './formula-as-written.tsx';
import type { Formula as FormulaText } from './parser.ts';

/** Limits of one formula: characters of source, macro expansions, and size in em. */
const MOST = { chars: 4_000, expand: 500, em: 40 } as const;
/** Commands that define macros. A few of them can expand to more than anyone could read. */
const DEFINES = /\\(?:[gex]?def|let|futurelet|global|(?:re)?newcommand|providecommand)(?![a-zA-Z])/;

/** Throws if the source is not a formula. */
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
  // A label would become an anchor in the page.
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
    // Scrollable where it is too wide, by keyboard too.
    <span
      className="md-maths at-most-full"
      data-apart
      role="region"
      aria-label={t`Formula`}
      // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex
      tabIndex={0}
      ref={place}
      dir="ltr"
    />
  ) : (
    <span className="md-maths at-most-full" ref={place} dir="ltr" />
  );
}
