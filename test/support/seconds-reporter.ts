/**
 * Says at the end of a run how long each project took, and which files most. Leaves what no test
 * report holds in `test/artifacts/run.json`.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Reporter, TestModule } from 'vitest/node';

const ARTIFACTS = fileURLToPath(new URL('../artifacts/', import.meta.url));
const SLOWEST = 5;

interface Stretch {
  /** ms */
  began: number;
  ended: number;
  readonly files: { readonly name: string; readonly ms: number }[];
}

const seconds = (ms: number) => `${(ms / 1_000).toFixed(1)} s`;

export default class SecondsReporter implements Reporter {
  private readonly projects = new Map<string, Stretch>();
  private readonly began = new Map<string, number>();

  onTestModuleQueued({ id, project }: TestModule): void {
    this.began.set(id, performance.now());
    const { name } = project;
    if (!this.projects.has(name)) this.projects.set(name, { began: performance.now(), ended: 0, files: [] });
  }

  onTestModuleEnd({ id, project, moduleId }: TestModule): void {
    const stretch = this.projects.get(project.name);
    if (!stretch) return;
    stretch.ended = performance.now();
    stretch.files.push({ name: relative(process.cwd(), moduleId), ms: stretch.ended - (this.began.get(id) ?? 0) });
  }

  onTestRunEnd(_modules: readonly TestModule[], unhandled: readonly unknown[]): void {
    const lines = [...this.projects].map(([name, { began, ended, files }]) => {
      const slowest = files.toSorted((a, b) => b.ms - a.ms).slice(0, SLOWEST);
      const named = slowest.map((file) => `${file.name} ${seconds(file.ms)}`).join(', ');
      return `${name}: ${seconds(ended - began)}, ${files.length} files; longest: ${named}`;
    });
    console.log(`\n${lines.join('\n')}`);
    mkdirSync(ARTIFACTS, { recursive: true });
    writeFileSync(`${ARTIFACTS}run.json`, JSON.stringify({ unhandled: unhandled.length }));
  }
}
