/** A passage without the syntax of Markdown. Pure. */
import type { Passage } from '../../../shared/protocol/search.ts';

/** The syntax is what the groups hold. What is between two groups stays. */
const SYNTAX: readonly RegExp[] = [
  // [text](address), and pictures
  /(!?\[)[^\]]*(\]\([^)]*\))/dg,
  // emphasis, but no sign between two letters or spaces
  /(?<![\p{L}\p{N}])(\*{1,3}|_{1,3})(?=\S)/dgu,
  /(?<=\S)(\*{1,3}|_{1,3})(?![\p{L}\p{N}])/dgu,
  /(~~|`+)/dg,
  /(?<=^|\s)(#{1,6}\s+)(?=\S)/dg,
  // the line below the head of a table
  /(\|(?:\s*:?-+:?\s*\|)+)/dg,
];

export function plainPassage({ text, marks }: Passage): Passage {
  const removed = new Uint8Array(text.length);
  for (const pattern of SYNTAX)
    for (const { indices } of text.matchAll(pattern))
      for (const [from, to] of indices?.slice(1).filter((range) => range !== undefined) ?? [])
        removed.fill(1, from, to);
  /** How many characters stay before each. */
  const stays: number[] = [0];
  for (let i = 0; i < text.length; i++) stays.push((stays[i] ?? 0) + (removed[i] === 1 ? 0 : 1));
  const at = (index: number) => stays[index] ?? 0;
  let plain = '';
  for (let i = 0; i < text.length; i++) if (removed[i] !== 1) plain += text.charAt(i);
  return {
    text: plain,
    marks: marks.map(([from, to]): [number, number] => [at(from), at(to)]).filter(([from, to]) => to > from),
  };
}
