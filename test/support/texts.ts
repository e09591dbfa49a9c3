/** Finds the texts of the page in its code: what a catalogue of another language must hold. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseSync, Visitor } from 'vite';
import { keyOf } from '../../src/language/t.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
/** The folders whose texts people read; what others say is translated where it is shown. */
const FOLDERS = ['src/ui', 'src/state', 'src/language'];

export interface FoundText {
  readonly key: string;
  /** `src/ui/app.tsx:12` */
  readonly at: string;
}

const sources = () =>
  FOLDERS.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.tsx?$/.test(name) && !name.endsWith('.d.ts'))
      .map((name) => join(folder, name)),
  );

/** Every text of the page with the place where it stands, in the order of the files. */
export function textsOfPage(): FoundText[] {
  const found: FoundText[] = [];
  for (const path of sources()) {
    const code = readFileSync(join(ROOT, path), 'utf8');
    const { program, errors } = parseSync(path, code);
    if (errors.length > 0) throw new Error(`${path}: ${errors[0]?.message}`);
    const add = (key: string, start: number) =>
      found.push({ key, at: `${path}:${code.slice(0, start).split('\n').length}` });
    new Visitor({
      TaggedTemplateExpression({ tag, quasi, start }) {
        if (tag.type !== 'Identifier' || tag.name !== 't') return;
        add(keyOf(quasi.quasis.map(({ value }) => value.cooked ?? '')), start);
      },
      CallExpression({ callee, arguments: given, start }) {
        if (callee.type !== 'Identifier' || callee.name !== 'plural') return;
        const [one, many] = given
          .slice(1)
          .map((one) => (one.type === 'Literal' ? one.value : one.type === 'TemplateLiteral' ? 'T' : null));
        if (typeof one !== 'string')
          throw new Error(`${path}:${code.slice(0, start).split('\n').length}: plural() takes its words as they are`);
        add(`{0} ${one}|{0} ${typeof many === 'string' ? many : `${one}s`}`, start);
      },
    }).visit(program);
  }
  return found;
}
