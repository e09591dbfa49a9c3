/** What lint says of files that are not in the repository: for tests of its rules. */
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { z } from 'zod';

const root = fileURLToPath(new URL('../../', import.meta.url));

export interface Finding {
  /**
   * As `group/name`; without the group where it is the linter's own. What the types say is
   * `typescript/TS` and a number.
   */
  readonly rule: string;
  /** Of the file, from 1. */
  readonly line: number;
}
/** What was found in a file of these; throws where it was not among them. */
export type Findings = (path: string) => readonly Finding[];

const reportSchema = z.object({
  number_of_files: z.number(),
  diagnostics: z.array(
    z.object({
      filename: z.string(),
      message: z.string(),
      code: z.string().optional(),
      labels: z.array(z.object({ span: z.object({ line: z.number() }) })),
    }),
  ),
});
const ruleOf = (code: string) => code.replace(/^eslint\((.+)\)$/, '$1').replace(/^(.+)\((.+)\)$/, '$1/$2');

const run = (cwd: string, ...args: string[]) =>
  new Promise<string>((resolve) => {
    execFile(
      process.execPath,
      [join(root, 'node_modules/oxlint/bin/oxlint'), ...args],
      { cwd, maxBuffer: Infinity },
      (_, out, wrong) => resolve(out || wrong),
    );
  });

/**
 * Lints all of them in one run, as if their paths (`src/shared/domain/a.ts`) were in the
 * repository. `typed`: with the rules that need types.
 */
export async function findingsIn(files: ReadonlyMap<string, string>, { typed = false } = {}): Promise<Findings> {
  // Its real path: elements are told by where files really are.
  const tree = realpathSync(mkdtempSync(join(tmpdir(), 'roost-lint-')));
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(tree, path)), { recursive: true });
    writeFileSync(join(tree, path), text);
  };
  try {
    symlinkSync(join(root, 'node_modules'), join(tree, 'node_modules'));
    for (const [path, text] of files) write(path, text);
    const declarations = join(root, 'src/shared/domain/platform/*.d.ts');
    write(
      'tsconfig.json',
      JSON.stringify({
        extends: join(root, 'tsconfig.json'),
        compilerOptions: { types: [] },
        include: ['src', 'server', declarations],
      }),
    );
    write(
      'oxlint.config.js',
      `import config from '${pathToFileURL(join(root, 'oxlint.config.js')).href}';
       const options = { ...config.options, typeAware: ${typed}, typeCheck: ${typed} };
       const jsPlugins = config.jsPlugins.map((name) => name.replace('./', ${JSON.stringify(root)}));
       export default { ...config, options, jsPlugins };`,
    );
    const said = await run(tree, '-c', 'oxlint.config.js', '-f', 'json', ...files.keys());
    if (!said.startsWith('{')) throw new Error(said);
    const { diagnostics, number_of_files: count } = reportSchema.parse(JSON.parse(said));
    if (count !== files.size) throw new Error(`${count} of ${files.size} files were linted`);
    const found = new Map<string, Finding[]>([...files.keys()].map((path) => [path, []]));
    for (const { filename, message, code, labels } of diagnostics)
      found.get(filename)?.push({ rule: code ? ruleOf(code) : message, line: labels[0]?.span.line ?? 0 });
    return (path) => {
      const own = found.get(path);
      if (!own) throw new Error(`${path} was not linted`);
      return own;
    };
  } finally {
    rmSync(tree, { recursive: true, force: true });
  }
}
