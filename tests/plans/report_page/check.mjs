// Opens pages in headless Chromium, narrow and wide, light and dark, and tells what is wrong with them.
//
//     node check.mjs TOOLS CHROMIUM PAGE...
//
// Writes one line of JSON for each page and way of showing it. With SHOTS=FOLDER it also takes pictures.

import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'

const [tools, executablePath, ...pages] = process.argv.slice(2)
const load = createRequire(path.resolve(tools, 'node_modules/'))
const { chromium } = load('playwright-core')
const axe = fs.readFileSync(load.resolve('axe-core/axe.min.js'), 'utf8')
const shots = process.env.SHOTS

const home = fs.mkdtempSync(path.join(os.tmpdir(), 'report-page-'))
const browser = await chromium.launchPersistentContext(home, {
  executablePath,
  headless: true,
  args: [
    '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
    '--disable-component-update', '--disable-sync',
  ],
})

const ways = [390, 1280].flatMap(width => ['light', 'dark'].map(colorScheme => ({ width, colorScheme })))

async function turn(page, { width, colorScheme }) {
  await page.setViewportSize({ width, height: 900 })
  await page.emulateMedia({ colorScheme })
}

async function check(file) {
  const url = pathToFileURL(file).href
  const page = await browser.newPage()
  page.setDefaultTimeout(180_000)
  const said = []
  const asked = []
  page.on('console', message => { if (['error', 'warning'].includes(message.type())) said.push(message.text()) })
  page.on('pageerror', error => said.push(String(error)))
  page.on('request', request => { if (request.url() !== url) asked.push(request.url()) })
  await page.goto(url, { waitUntil: 'load' })
  const found = []
  for (const way of ways) {
    await turn(page, way)
    const seen = await page.evaluate(() => ({
      inner: innerWidth,
      scroll: document.documentElement.scrollWidth,
      dark: matchMedia('(prefers-color-scheme: dark)').matches,
      scripts: document.scripts.length,
      verdict: document.querySelector('.verdict')?.getBoundingClientRect().bottom,
      message: document.querySelector('table.messages tbody th')?.getBoundingClientRect().bottom,
      broken: [...document.querySelectorAll('a')].map(a => a.getAttribute('href'))
        .filter(href => !href?.startsWith('#') || !document.getElementById(href.slice(1))),
    }))
    found.push({ page: path.basename(file), ...way, ...seen, said, asked })
    if (shots) await shoot(page, file, way)
  }
  // A page of many thousand elements is judged by its beginning: the rest is more of the same.
  await page.evaluate(most => {
    for (const list of document.querySelectorAll('ul, ol, tbody')) {
      [...list.children].slice(most).forEach(child => child.remove())
    }
    [...document.querySelectorAll('article')].slice(most).forEach(article => article.remove())
  }, 25)
  await page.evaluate(axe)
  for (const [number, way] of ways.entries()) {
    await turn(page, way)
    const { violations } = await page.evaluate(() => axe.run(document, { resultTypes: ['violations'] }))
    found[number].serious = violations.filter(one => ['serious', 'critical'].includes(one.impact)).map(one => ({
      id: one.id,
      help: one.help,
      nodes: one.nodes.slice(0, 3).map(node => `${node.html.slice(0, 200)} ${node.any[0]?.message ?? ''}`),
    }))
  }
  await page.close()
  return found
}

async function shoot(page, file, { width, colorScheme }) {
  const name = `${path.basename(file, '.html')}-${width}-${colorScheme}.png`
  // Nobody looks at a picture of a hundred thousand lines.
  const height = await page.evaluate(() => document.documentElement.scrollHeight)
  const clip = { x: 0, y: 0, width, height: Math.min(height, 16000) }
  await page.screenshot({ path: path.join(shots, name), ...(height < 30000 && { clip, fullPage: true }) })
}

try {
  for (const file of pages) {
    for (const one of await check(file)) console.log(JSON.stringify(one))
  }
} finally {
  await browser.close()
  fs.rmSync(home, { recursive: true, force: true })
}
