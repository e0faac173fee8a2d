"""The renderings of a result: HTML, JUnit XML, Markdown and the terminal."""
