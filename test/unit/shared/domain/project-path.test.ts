import { describe, expect, it } from 'vitest';
import { PROJECT_PATH_LIMITS, projectPathFault } from '../../../../src/shared/domain/project-path.ts';

describe('a path in a folder project', () => {
  it('refuses a path that git, a disk or a person would read as another one', () => {
    const refused = ['', '/a', 'a/', 'a//b', '.', '../a', 'a/./b', 'a\\b', 'a\nb', 'a\0b', 'a\u202eb', 'a\ufffd'];
    const gits = [
      '.git',
      '.GIT/config',
      'a/.Git',
      '.git.',
      '.git ',
      '.git::$INDEX_ALLOCATION',
      'git~1',
      'GIT~2/x',
      '.g\u200cit/x',
    ];
    for (const path of [...refused, ...gits]) expect(projectPathFault(path), path).not.toBeNull();
    for (const path of [
      '.gitignore',
      '.github/x',
      'git~',
      'git',
      '-a',
      ':a',
      'a.',
      'a ',
      'é',
      'e\u0301',
      '"a"',
      '~',
      'a\u200db',
    ])
      expect(projectPathFault(path), path).toBeNull();
  });

  it('limits a path in bytes, per name and in all, and in depth', () => {
    const { name, depth, path } = PROJECT_PATH_LIMITS;
    const long = (count: number) => `${'ä'.repeat(Math.floor(count / 2))}${count % 2 === 1 ? 'a' : ''}`;
    expect(projectPathFault(long(name))).toBeNull();
    expect(projectPathFault(long(name + 1))).not.toBeNull();
    expect(projectPathFault(Array.from({ length: depth }, () => 'a').join('/'))).toBeNull();
    expect(projectPathFault(Array.from({ length: depth + 1 }, () => 'a').join('/'))).not.toBeNull();
    const whole = (count: number) => `${`${'p'.repeat(199)}/`.repeat(3)}${'p'.repeat(count - 600)}`;
    expect(projectPathFault(whole(path))).toBeNull();
    expect(projectPathFault(whole(path + 1))).not.toBeNull();
  });
});
