/** Files that programs read by themselves, or that are most likely to be run. Pure. */

/**
 * Endings of programs. Not of data and settings, which a program may write itself: those that count
 * are well known.
 */
const CODE =
  /\.(?:sh|bash|zsh|ksh|fish|ps1|bat|cmd|py|pyw|pyx|[cm]?[jt]sx?|rb|rake|pl|pm|php|lua|tcl|awk|r|jl|go|rs|c|cc|cpp|h|hpp|java|kts?|groovy|gradle|scala|cs|swift|ml|hs|ex|exs|erl|clj|el|nix|mk|cmake|so|dylib|dll|jar|wasm)$/i;

/**
 * Names that build tools, interpreters and package managers look for in the folder in which they
 * are run.
 */
const WELL_KNOWN = new RegExp(
  `^(?:${[
    '(?:GNU)?[Mm]akefile',
    '[Jj]ustfile',
    'Taskfile\\.ya?ml',
    'Rakefile',
    'Gemfile(?:\\.lock)?',
    'Procfile',
    'Vagrantfile',
    'Jenkinsfile',
    '(?:.+\\.)?Dockerfile(?:\\..+)?',
    '(?:docker-)?compose.*\\.ya?ml',
    'package(?:-lock)?\\.json',
    'npm-shrinkwrap\\.json',
    'yarn\\.lock',
    'pnpm-(?:lock|workspace)\\.yaml',
    'deno\\.(?:jsonc?|lock)',
    'bun(?:fig\\.toml|\\.lockb?)',
    '.+\\.config\\.[cm]?[jt]s',
    '(?:ts|js)config.*\\.json',
    'lerna\\.json|nx\\.json|turbo\\.json',
    '\\..+rc(?:\\..+)?',
    '\\.env.*',
    '\\.git(?:attributes|modules)?',
    '\\.pre-commit-config\\.yaml',
    '\\.(?:python|node|ruby|tool)-versions?',
    'pyproject\\.toml|setup\\.(?:py|cfg)|tox\\.ini|pytest\\.ini|noxfile\\.py|conftest\\.py|manage\\.py|Pipfile(?:\\.lock)?|poetry\\.lock|uv\\.lock',
    'requirements.*\\.txt',
    '(?:site|user)customize\\.py|__(?:init|main)__\\.py',
    'Cargo\\.(?:toml|lock)|build\\.rs|rust-toolchain(?:\\.toml)?',
    'go\\.(?:mod|sum|work)',
    'CMake(?:Lists\\.txt|Presets\\.json)',
    'meson\\.build|configure(?:\\.ac)?|BUILD(?:\\.bazel)?|WORKSPACE(?:\\.bazel)?|MODULE\\.bazel',
    '(?:build|settings)\\.gradle(?:\\.kts)?|gradle\\.properties|gradlew|mvnw|pom\\.xml|build\\.(?:xml|sbt)',
    'composer\\.(?:json|lock)|mix\\.exs|stack\\.yaml|.+\\.cabal|dune(?:-project)?|flake\\.(?:nix|lock)|(?:default|shell)\\.nix',
  ].join('|')})$`,
);

export const isCode = (name: string): boolean => CODE.test(name) || WELL_KNOWN.test(name);
export const isWellKnown = (name: string): boolean => WELL_KNOWN.test(name);
/** Folders whose files other programs run by themselves. */
export const RUN_FOLDERS = ['.git/hooks', '.husky'];
/** Files in folders that are not looked into otherwise. */
export const RUN_FILES = ['.git/config', '.git/info/attributes'];
/** What comes with git and is not run. */
export const isSample = (name: string): boolean => name.endsWith('.sample');

/** In a program's text: what is named so is run, or read as a program, whatever its name. */
const RUNS =
  /(?:^|[\s;&|(`"'])(?:source|\.|include|-include|sinclude|exec|sh|bash|zsh|dash|ksh|python[\d.]*|node|deno|bun|ruby|perl|php|lua|Rscript|awk|sed|make|require_relative)\s+(?:-{1,2}[\w=-]+\s+)*["']?([^\s"'`;&|)<>]+)/g;
const QUOTED = /"([^"\n]{1,300})"|'([^'\n]{1,300})'|`([^`\n]{1,300})`/g;
const WORDS = /[\p{L}\p{N}_.@+%~/-]+/gu;

/**
 * What the text of a file may name. `runs`: is certainly read as a program. Each once, in the order
 * in which they stand, at most `most` in all.
 */
export function wordsOfText(
  text: string,
  most: number,
): { readonly runs: readonly string[]; readonly words: readonly string[]; readonly isWhole: boolean } {
  const runs = new Set([...text.matchAll(RUNS)].flatMap(([, name]) => name ?? []));
  const words = new Set<string>();
  for (const [, one, other, third] of text.matchAll(QUOTED)) {
    words.add(one ?? other ?? third ?? '');
    if (words.size > most) break;
  }
  for (const [word] of text.matchAll(WORDS)) {
    if (words.size > most) break;
    words.add(word);
  }
  const isWhole = runs.size + words.size <= most;
  return { runs: [...runs].slice(0, most), words: [...words].slice(0, most), isWhole };
}
