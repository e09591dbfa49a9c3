import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { ENDPOINTS } from '../../../../src/shared/protocol/endpoints/index.ts';
import { knownSchemas } from '../../../../src/shared/protocol/documents.ts';
import { eventSchema } from '../../../../src/shared/protocol/events.ts';
import { REFERENCE, wireReference } from '../../../support/wire-reference.ts';

const written = readFileSync(REFERENCE, 'utf8');

describe('the wire reference', () => {
  it('matches the schemas (if this fails, run "npm run wire")', () => {
    expect(written).toBe(wireReference());
  });

  it('describes every call, every event and every document', () => {
    for (const { method, path } of Object.values(ENDPOINTS)) expect(written).toContain(`### \`${method} ${path}\``);
    for (const { shape } of eventSchema.options) expect(written).toContain(`### \`${shape.kind.value}\``);
    for (const type of knownSchemas().keys()) expect(written).toContain(`### \`${type}\``);
  });

  it('describes every call, event and document, and has no empty table', () => {
    expect(written).not.toMatch(/^### .*\n\n\|/m);
    expect(written).not.toMatch(/^\|---\|---\|---\|\n(?!\|)/m);
  });
});
