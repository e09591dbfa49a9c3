/** The rules of synchronisation have numbers, and tests name the rules that they hold. */
import { readFileSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const SPEC = 'src/worker/sync/SPEC.md';

interface Rule {
  readonly section: number;
  readonly rule: number;
  /** The section that it stands in; 0: none. */
  readonly within: number;
}

/** Sections and rules as a specification has them: `## 3. Title`, and `- **3.4** Text`. */
function rulesOf(spec: string): { readonly sections: readonly number[]; readonly rules: readonly Rule[] } {
  const sections: number[] = [];
  const rules: Rule[] = [];
  for (const [, title, section, rule] of spec.matchAll(/^(?:## (\d+)\. |- \*\*(\d+)\.(\d+)\*\* )/gm)) {
    if (title !== undefined) sections.push(Number(title));
    else rules.push({ section: Number(section), rule: Number(rule), within: sections.at(-1) ?? 0 });
  }
  return { sections, rules };
}
const nameOf = ({ section, rule }: Rule) => `${section}.${rule}`;

/** What is wrong with the numbers of a specification, in words. */
function faultsOf(spec: string): string[] {
  const { sections, rules } = rulesOf(spec);
  return [
    ...sections.flatMap((section, at) => (section === at + 1 ? [] : [`Section ${section} is not number ${at + 1}.`])),
    ...rules.flatMap((one, at) => {
      const before = rules[at - 1];
      if (one.section !== one.within) return [`${nameOf(one)} stands in section ${one.within}.`];
      const isAfter = before === undefined || before.section < one.section || before.rule < one.rule;
      return isAfter ? [] : [`${nameOf(one)} does not come after ${nameOf(before)}.`];
    }),
  ];
}

/** Rules that a test names: `SPEC 3.4`, or several as `SPEC 3.4, 3.5`. */
const namedIn = (test: string) =>
  [...test.matchAll(/\bSPEC (\d+\.\d+(?:, \d+\.\d+)*)/g)].flatMap(([, list = '']) => list.split(', '));

describe('the rules of synchronisation', () => {
  const spec = readFileSync(root + SPEC, 'utf8');
  const { rules } = rulesOf(spec);

  it('numbers rules uniquely and ascending', () => {
    expect(rules.length).toBeGreaterThan(50);
    expect(faultsOf(spec)).toEqual([]);
  });

  it('exist where tests name them', () => {
    const known = new Set(rules.map(nameOf));
    const named = readdirSync(`${root}test`, { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.test.ts') && !path.endsWith('spec-rules.test.ts'))
      .flatMap((path) =>
        namedIn(readFileSync(`${root}test/${path}`, 'utf8')).map((rule) => [`test/${path}`, rule] as const),
      );
    expect(named.length).toBeGreaterThan(50);
    expect(named.filter(([, rule]) => !known.has(rule))).toEqual([]);
  });
});

describe('numbers of rules', () => {
  it('refuses rule numbers that repeat, go back, or stand in another section', () => {
    const good = '## 1. One\n- **1.1** A.\n- **1.3** B.\n\n## 2. Two\n- **2.1** C.\n';
    expect(faultsOf(good)).toEqual([]);
    expect(faultsOf(good.replace('1.3', '1.1'))).toEqual(['1.1 does not come after 1.1.']);
    expect(faultsOf(good.replace('1.1', '1.10'))).toEqual(['1.3 does not come after 1.10.']);
    expect(faultsOf(good.replace('2.1', '1.4'))).toEqual(['1.4 stands in section 2.']);
    expect(faultsOf(good.replace('## 2.', '## 3.'))).toEqual([
      'Section 3 is not number 2.',
      '2.1 stands in section 3.',
    ]);
  });

  it('finds rule numbers in comments and titles of tests', () => {
    expect(namedIn("// SPEC 3.4, 12.1\nit('is sealed (SPEC 5.1)')\n// SPEC.md")).toEqual(['3.4', '12.1', '5.1']);
  });
});
