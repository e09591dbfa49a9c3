import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('../../../', import.meta.url));

/** A module with more names than this is more than one concept. */
const MOST_NAMES = 16;

/** Lists of names by nature: a folder's face, the wire, the icons. */
const LISTS = [/\/index\.ts$/, /^src\/shared\/protocol\//, /\/icons\.tsx$/];

/** Modules that export more today. A number here may only become smaller. */
const TOO_MANY: Readonly<Record<string, number>> = {
  'server/approvals/requests/notify-agent.ts': 18,
  'src/page/exports/methods.ts': 19,
  'src/page/exports/types.ts': 18,
  'src/page/language/t.ts': 18,
  'src/page/state/exports.ts': 20,
  'src/page/state/relay-info.ts': 17,
  'src/page/ui/schedule/drafts.ts': 31,
  'src/shared/domain/guardrails.ts': 29,
  'src/shared/domain/prices.ts': 18,
  'src/shared/domain/schedule/timing.ts': 26,
  'src/shared/domain/toolsets.ts': 17,
  'src/worker/ledger/views/database.ts': 17,
  'src/worker/sync/data-worker/records.ts': 29,
};

const DECLARED = /^export (?:default )?(?:async )?(?:const|let|function\*?|class|interface|type(?! \{)|enum)\b/gm;
const LISTED = /^export (?:type )?\{([^}]*)\}/gm;

function namesOf(text: string): number {
  const listed = [...text.matchAll(LISTED)].flatMap(([, names = '']) => names.split(',').filter((name) => name.trim()));
  return [...text.matchAll(DECLARED)].length + listed.length;
}

const exported = ['src', 'server'].flatMap((folder) =>
  readdirSync(`${root}${folder}`, { recursive: true, encoding: 'utf8' })
    .filter((name) => /(?<!\.d)\.tsx?$/.test(name))
    .map((name) => `${folder}/${name}`)
    .filter((path) => !LISTS.some((list) => list.test(path)))
    .map((path) => [path, namesOf(readFileSync(root + path, 'utf8'))] as const),
);

describe('A module', () => {
  it('counts each name that it exports', () => {
    expect(namesOf('export const a = 1;\nexport type B = 1;\nexport { c, type D } from "x";\nconst e = 1;\n')).toBe(4);
  });

  it('exports few names', () => {
    expect(exported.length).toBeGreaterThan(400);
    const many = exported.filter(([path, names]) => names > (TOO_MANY[path] ?? MOST_NAMES));
    expect(many).toEqual([]);
  });

  it('removes a module from the list once it exports fewer names', () => {
    const now = Object.fromEntries(exported.filter(([path, names]) => path in TOO_MANY && names > MOST_NAMES));
    expect(now).toEqual(TOO_MANY);
  });
});
